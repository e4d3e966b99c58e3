import { countWithNoun, oneLineExcerpt } from '../../../shared/text/one-line.ts';
import type { MatchedLine } from './content-search.ts';

const MAX_CHARACTERS = 50_000;
/** The maximum length of a matching line, so that one long line leaves space for other lines. */
const MAX_LINE_CHARS = 300;
const CHARACTERS_BEFORE_MATCH = 100;

export class SearchReport {
  readonly #lines: string[] = [];
  readonly #most: number;
  readonly #advice: string | undefined;
  #characters = 0;
  #files = 0;
  #skipped = 0;
  #hidden = 0;
  #cut = false;

  /** @param advice the text that follows if the search finds nothing */
  constructor(most: number, advice?: string) {
    this.#most = most;
    this.#advice = advice;
  }

  /** True if the report has no room, and a result is already missing from it. Then the search can stop. */
  get full(): boolean {
    return this.#cut && this.room === 0;
  }

  get room(): number {
    return this.#characters >= MAX_CHARACTERS ? 0 : this.#most - this.#lines.length;
  }

  file(path: string): void {
    this.#add(oneLineExcerpt(path, 1000));
  }

  /** Adds the matching lines of one file until the report is full. */
  matches(path: string, found: readonly MatchedLine[]): void {
    if (found.length > 0) this.#files += 1;
    for (const { line, content, at } of found)
      this.#add(`${oneLineExcerpt(path, 1000)}:${line}: ${lineExcerpt(content, at)}`);
  }

  /** Counts a file that the search could not read: a binary, not UTF-8, too large or deleted file. */
  skip(): void {
    this.#skipped += 1;
  }

  /** Counts files that a rule of the operator hides from the search. */
  hide(files: number): void {
    this.#hidden += files;
  }

  /** Records that the search skipped a part of a directory. */
  cut(): void {
    this.#cut = true;
  }

  result(what: 'file' | 'match'): { text: string; summary: string } {
    const plural = what === 'file' ? 'files' : 'matches';
    const found = `${this.#lines.length} ${this.#lines.length === 1 ? what : plural}`;
    const summary =
      what === 'file' ? `found ${found}` : `found ${found} in ${countWithNoun(this.#files, 'file')}`;
    const notes = [
      ...(this.#lines.length === 0
        ? ['Nothing found', ...(this.#advice === undefined ? [] : [this.#advice])]
        : []),
      ...(this.#cut ? ['There is more; narrow the search'] : []),
      ...(this.#skipped === 0
        ? []
        : [
            `${countWithNoun(this.#skipped, 'file')} not searched (binary, not UTF-8, too large or unreadable)`,
          ]),
      ...(this.#hidden === 0
        ? []
        : [`A rule of the operator hides ${countWithNoun(this.#hidden, 'file')} from the search`]),
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

function lineExcerpt(text: string, at: number): string {
  if (text.length <= MAX_LINE_CHARS) return oneLineExcerpt(text, MAX_LINE_CHARS * 8);
  const start = Math.max(0, Math.min(at - CHARACTERS_BEFORE_MATCH, text.length - MAX_LINE_CHARS));
  const shown = oneLineExcerpt(text.slice(start, start + MAX_LINE_CHARS), MAX_LINE_CHARS * 8);
  return `${start > 0 ? '…' : ''}${shown}${start + MAX_LINE_CHARS < text.length ? '…' : ''}`;
}
