/** Collects search results as text for a model, with a size limit. */
import { countWithNoun, oneLine } from '../../../shared/text/one-line.ts';
import type { MatchedLine } from './content-search.ts';

const MAX_CHARACTERS = 50_000;
/** Limit for a matching line, so that one long line leaves space for the others. */
const MAX_LINE_SHOWN = 300;
/** The number of characters to show before the match in a cut line. */
const LEAD = 100;

export class SearchReport {
  readonly #lines: string[] = [];
  readonly #most: number;
  #characters = 0;
  #files = 0;
  #skipped = 0;
  #cut = false;

  constructor(most: number) {
    this.#most = most;
  }

  /** True if the report has rejected a result, so the search can stop. */
  get full(): boolean {
    return this.#cut && this.room === 0;
  }

  /** The number of further results that the report accepts. */
  get room(): number {
    return this.#characters >= MAX_CHARACTERS ? 0 : this.#most - this.#lines.length;
  }

  /** Adds a file that matches by name. */
  file(path: string): void {
    this.#add(oneLine(path, 1000));
  }

  /** Adds the matching lines of one file, as many as fit. */
  matches(path: string, found: readonly MatchedLine[]): void {
    if (found.length > 0) this.#files += 1;
    for (const { line, content, at } of found)
      this.#add(`${oneLine(path, 1000)}:${line}: ${excerpt(content, at)}`);
  }

  /** Counts a file that the search could not read: binary, not UTF-8, too large or deleted. */
  skip(): void {
    this.#skipped += 1;
  }

  /** Records that the search did not look at everything. */
  cut(): void {
    this.#cut = true;
  }

  result(what: 'file' | 'match'): { text: string; summary: string } {
    const plural = what === 'file' ? 'files' : 'matches';
    const found = `${this.#lines.length} ${this.#lines.length === 1 ? what : plural}`;
    const summary =
      what === 'file' ? `found ${found}` : `found ${found} in ${countWithNoun(this.#files, 'file')}`;
    const notes = [
      ...(this.#lines.length === 0 ? ['Nothing found'] : []),
      ...(this.#cut ? ['There is more; narrow the search'] : []),
      ...(this.#skipped === 0
        ? []
        : [
            `${countWithNoun(this.#skipped, 'file')} not searched (binary, not UTF-8, too large or unreadable)`,
          ]),
    ];
    const text = [...this.#lines, ...notes.map((note) => `[${note}.]`)].join('\n');
    return { text, summary: this.#cut ? `${summary}, not all` : summary };
  }

  #add(line: string): void {
    if (this.room === 0) {
      this.#cut = true;
      return;
    }
    this.#lines.push(line);
    this.#characters += line.length;
  }
}

function excerpt(text: string, at: number): string {
  if (text.length <= MAX_LINE_SHOWN) return oneLine(text, MAX_LINE_SHOWN * 8);
  const start = Math.max(0, Math.min(at - LEAD, text.length - MAX_LINE_SHOWN));
  const shown = oneLine(text.slice(start, start + MAX_LINE_SHOWN), MAX_LINE_SHOWN * 8);
  return `${start > 0 ? '…' : ''}${shown}${start + MAX_LINE_SHOWN < text.length ? '…' : ''}`;
}
