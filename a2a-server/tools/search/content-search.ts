/**
 * Finds matching lines without blocking the event loop for long. It matches slices of lines and yields between slices.
 * A slice has a time limit if the pattern can be hostile.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { withinTimeOrRetry, TimeExceeded } from '../../../shared/runtime/time-limit.ts';
import type { LineMatcher } from './line-matcher.ts';

/** Characters per slice; an ordinary pattern takes about a millisecond for one slice. */
const SLICE_CHARACTERS = 128 * 1024;
/** Time limit for one slice, in milliseconds. */
const SLICE_MS = 50;
/** Maximum characters of a line that the search reads. It ignores the rest of a longer line. */
const MAX_LINE = 10_000;

export interface MatchedLine {
  /** The index of the text in the searched texts. */
  text: number;
  /** Counted from 1. */
  line: number;
  content: string;
  /** The index in `content` where the match begins. */
  at: number;
}

/** A range of lines of one text. */
interface SearchRun {
  text: number;
  lines: readonly string[];
  start: number;
  end: number;
}

/**
 * Returns the first matching lines in order; it can return a few more than `most`.
 * @throws Error if the pattern takes too long; AbortError
 */
export async function searchTexts(
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
    found.push(...(await matchSlice(slice, matcher)));
  }
  return found;
}

async function matchSlice(slice: readonly SearchRun[], matcher: LineMatcher): Promise<MatchedLine[]> {
  const match = () => slice.flatMap((run) => matchRun(run, matcher));
  if (matcher.steady) return match();
  try {
    return await withinTimeOrRetry(SLICE_MS, match);
  } catch (error) {
    if (!(error instanceof TimeExceeded)) throw error;
    throw new Error(
      'The pattern takes too long to match. Avoid repetition inside repetition such as (a+)+, narrow the search with glob or path, or search for plain text.',
      { cause: error },
    );
  }
}

function matchRun({ text, lines, start, end }: SearchRun, matcher: LineMatcher): MatchedLine[] {
  const found: MatchedLine[] = [];
  for (let index = start; index < end; index += 1) {
    const whole = lines[index] ?? '';
    const content = whole.length > MAX_LINE ? whole.slice(0, MAX_LINE) : whole;
    const at = matcher.at(content);
    if (at !== -1) found.push({ text, line: index + 1, content, at });
  }
  return found;
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
        // Add one per line, so that empty lines also fill a slice.
        characters += Math.min(lines[end]?.length ?? 0, MAX_LINE) + 1;
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

function linesOf(text: string): string[] {
  const lines = text.includes('\r') ? text.split(/\r?\n/u) : text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
