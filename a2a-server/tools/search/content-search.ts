/**
 * Finds the matching lines of texts, without ever holding up the process for long: the text is matched a slice at a
 * time, each within a time limit, and the event loop turns between slices.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { patiently, TimeExceeded } from '../bounded-time.ts';
import type { LineMatcher } from './line-matcher.ts';

/** Characters matched at once: an ordinary pattern needs about a millisecond. */
const SLICE_CHARACTERS = 64 * 1024;
/** How long one slice may hold up the process. */
const SLICE_MS = 50;
/** How long all of them may. */
const TOTAL_MS = 5000;
/** Of a longer line only this much is searched. */
const MAX_LINE = 10_000;

export interface MatchedLine {
  /** Counted from 1. */
  line: number;
  text: string;
  /** Where in `text` the match begins. */
  at: number;
}

export class ContentSearch {
  readonly #matcher: LineMatcher;
  readonly #signal: AbortSignal;
  #spent = 0;

  constructor(matcher: LineMatcher, signal: AbortSignal) {
    this.#matcher = matcher;
    this.#signal = signal;
  }

  /** The first `most` matching lines. @throws Error when the pattern takes too long, AbortError */
  async search(text: string, most: number): Promise<MatchedLine[]> {
    const lines = text.split('\n');
    if (lines.at(-1) === '') lines.pop();
    const found: MatchedLine[] = [];
    let next = 0;
    while (next < lines.length && found.length < most) {
      this.#signal.throwIfAborted();
      const end = sliceEnd(lines, next);
      found.push(...(await this.#slice(lines, next, end)));
      next = end;
      if (next < lines.length) await nextTurn();
    }
    return found.slice(0, most);
  }

  async #slice(lines: readonly string[], start: number, end: number): Promise<MatchedLine[]> {
    if (this.#spent > TOTAL_MS) throw new PatternTooSlow();
    const begun = performance.now();
    try {
      return await patiently(SLICE_MS, () => matchedLines(lines, { start, end }, this.#matcher));
    } catch (error) {
      throw error instanceof TimeExceeded ? new PatternTooSlow() : error;
    } finally {
      this.#spent += performance.now() - begun;
    }
  }
}

/** The pattern is hostile, or unlucky. */
export class PatternTooSlow extends Error {
  override readonly name = 'PatternTooSlow';

  constructor() {
    super(
      'The pattern takes too long to match. Avoid repetition inside repetition such as (a+)+, narrow the search with glob or path, or search for plain text.',
    );
  }
}

function sliceEnd(lines: readonly string[], start: number): number {
  let characters = 0;
  let end = start;
  while (end < lines.length && characters < SLICE_CHARACTERS) {
    // One more for the line itself, so that empty lines come to an end too.
    characters += Math.min(lines[end]?.length ?? 0, MAX_LINE) + 1;
    end += 1;
  }
  return end;
}

function matchedLines(
  lines: readonly string[],
  { start, end }: { start: number; end: number },
  matcher: LineMatcher,
): MatchedLine[] {
  const found: MatchedLine[] = [];
  for (const [index, line] of lines.slice(start, end).entries()) {
    const text = (line.endsWith('\r') ? line.slice(0, -1) : line).slice(0, MAX_LINE);
    const at = matcher(text);
    if (at !== -1) found.push({ line: start + index + 1, text, at });
  }
  return found;
}
