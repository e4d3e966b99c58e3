/** What a search has found, put together for a model and kept within bounds. */
import { count, oneLine } from '../one-line.ts';
import type { MatchedLine } from './content-search.ts';

const MAX_CHARACTERS = 50_000;
/** Of a matching line, so that one long line does not crowd out the others. */
const MAX_LINE_SHOWN = 300;
/** Shown before the match where the line has to be cut. */
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

  /** A result came that it had no place for: to go on would be of no use. */
  get full(): boolean {
    return this.#cut && this.room === 0;
  }

  /** How many more results it takes. */
  get room(): number {
    return this.#characters >= MAX_CHARACTERS ? 0 : this.#most - this.#lines.length;
  }

  /** A file that matched by its name. */
  file(path: string): void {
    this.#add(oneLine(path, 1000));
  }

  /** The matching lines of one file, some perhaps beyond what fits. */
  matches(path: string, found: readonly MatchedLine[]): void {
    if (found.length > 0) this.#files += 1;
    for (const { line, content, at } of found)
      this.#add(`${oneLine(path, 1000)}:${line}: ${excerpt(content, at)}`);
  }

  /** A file that could not be searched: binary, not UTF-8, too large, or gone. */
  skip(): void {
    this.#skipped += 1;
  }

  /** Not everything was looked at. */
  cut(): void {
    this.#cut = true;
  }

  result(what: 'file' | 'match'): { text: string; summary: string } {
    const plural = what === 'file' ? 'files' : 'matches';
    const found = `${this.#lines.length} ${this.#lines.length === 1 ? what : plural}`;
    const summary = what === 'file' ? `found ${found}` : `found ${found} in ${count(this.#files, 'file')}`;
    const notes = [
      ...(this.#lines.length === 0 ? ['Nothing found'] : []),
      ...(this.#cut ? ['There is more; narrow the search'] : []),
      ...(this.#skipped === 0
        ? []
        : [`${count(this.#skipped, 'file')} not searched (binary, not UTF-8, too large or unreadable)`]),
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
