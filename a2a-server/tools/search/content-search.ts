/**
 * Finds matching lines and does not block the event loop for long. The search matches a slice of lines, then yields to
 * the event loop. A regular expression has a time limit for each slice.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runWithinTimeWithRetry, TimeExceededError } from '../../runtime/sync-time-limit.ts';
import type { LineMatcher } from './line-matcher.ts';

/** The number of characters in one slice. A plain pattern takes about one millisecond for a slice. */
const SLICE_CHARACTERS = 128 * 1024;
const SLICE_MS = 50;
/** If the pattern is a regular expression, the search reads only this many characters of each line. */
const MAX_LINE_CHARS = 10_000;

export interface MatchedLine {
  /** The index of the text in the searched texts. */
  text: number;
  /** The number of the line. The first line has the number 1. */
  line: number;
  content: string;
  /** The index in `content` where the match begins. */
  at: number;
}

interface SearchRun {
  text: number;
  lines: readonly string[];
  start: number;
  end: number;
}

/**
 * Returns the first matching lines in order, at most `most`.
 * @throws Error if the pattern takes too long
 * @throws AbortError after an abort
 */
export async function findMatchingLines(
  texts: readonly string[],
  { matcher, most, signal }: { matcher: LineMatcher; most: number; signal: AbortSignal },
): Promise<MatchedLine[]> {
  const found: MatchedLine[] = [];
  let turned = true;
  for (const slice of slicesOf(texts, matcher)) {
    signal.throwIfAborted();
    if (found.length >= most) break;
    if (!turned) await nextTurn();
    turned = false;
    found.push(...(await matchSlice(slice, matcher, most - found.length)));
  }
  return found;
}

/** X3: stops after the first `most` lines, because a slice of empty lines may have a hundred thousand matches. */
async function matchSlice(
  slice: readonly SearchRun[],
  matcher: LineMatcher,
  most: number,
): Promise<MatchedLine[]> {
  const match = (): MatchedLine[] => {
    const found: MatchedLine[] = [];
    for (const run of slice) found.push(...matchRun(run, matcher, most - found.length));
    return found;
  };
  if (matcher.steady) return match();
  try {
    return await runWithinTimeWithRetry(SLICE_MS, match);
  } catch (error) {
    if (!(error instanceof TimeExceededError)) throw error;
    throw new Error(
      'The pattern takes too long to match. Avoid repetition inside repetition such as (a+)+, narrow the search with glob or path, or search for plain text.',
      { cause: error },
    );
  }
}

function matchRun({ text, lines, start, end }: SearchRun, matcher: LineMatcher, most: number): MatchedLine[] {
  const found: MatchedLine[] = [];
  for (let index = start; index < end && found.length < most; index += 1) {
    const whole = lines[index] ?? '';
    const content = whole.slice(0, searchedChars(whole, matcher));
    const at = matcher.at(content);
    if (at !== -1) found.push({ text, line: index + 1, content, at });
  }
  return found;
}

/** Returns how many characters of the line the search reads. */
function searchedChars({ length }: string, { steady }: LineMatcher): number {
  return steady ? length : Math.min(length, MAX_LINE_CHARS);
}

/** Splits the texts that may match into slices. A slice may contain several texts, because each slice costs time. */
function* slicesOf(texts: readonly string[], matcher: LineMatcher): Generator<SearchRun[]> {
  let slice: SearchRun[] = [];
  let characters = 0;
  for (const [text, whole] of texts.entries()) {
    if (!matcher.mayMatch(whole)) continue;
    const lines = linesOf(whole);
    for (let start = 0; start < lines.length;) {
      let end = start;
      while (end < lines.length && characters < SLICE_CHARACTERS) {
        // Each line counts one extra character, so that empty lines also fill a slice.
        characters += searchedChars(lines[end] ?? '', matcher) + 1;
        end += 1;
      }
      slice.push({ text, lines, start, end });
      start = end;
      if (characters < SLICE_CHARACTERS) continue;
      yield slice;
      slice = [];
      characters = 0;
    }
  }
  if (slice.length > 0) yield slice;
}

/** Returns the lines without a byte order mark, so that `^` matches the start of the first line. */
function linesOf(whole: string): string[] {
  const text = whole.replace(/^\ufeff/u, '');
  const lines = text.includes('\r') ? text.split(/\r?\n/u) : text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
