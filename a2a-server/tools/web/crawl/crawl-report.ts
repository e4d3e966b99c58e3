/** What a crawl has found so far, in words for the model. It can be asked at any moment: a crawl that is stopped keeps it. */
import { count, oneLine } from '../../one-line.ts';
import { beginning } from '../beginning.ts';
import type { Page } from '../page.ts';
import { passagesOf } from './passages.ts';
import type { Query } from './query.ts';

interface Found {
  url: URL;
  title: string;
  passages: string[];
  /** How many of the query's words are on the page. */
  matches: number;
  opening: string;
}

/** Characters of the whole report. */
const MAX_CHARACTERS = 40_000;
const MAX_OPENING = 1_500;
const MAX_FAILURES = 20;

export class CrawlReport {
  readonly #what: string;
  readonly #query: Query;
  readonly #found: Found[] = [];
  readonly #failures: string[] = [];
  #failed = 0;
  #disallowed = 0;
  #ending: string | undefined;

  constructor(what: string, query: Query) {
    this.#what = what;
    this.#query = query;
  }

  page(url: URL, { title, text }: Page): void {
    this.#found.push({
      url,
      title: title === '' ? url.pathname : title,
      passages: passagesOf(text, this.#query),
      matches: this.#query.matches(`${title}\n${text}`),
      opening: beginning(text, MAX_OPENING),
    });
  }

  /** @param reason a sentence, or the like of `404 Not Found`. */
  failed(url: URL, reason: string): void {
    this.#failed += 1;
    if (this.#failures.length < MAX_FAILURES) this.#failures.push(`- ${url.href}: ${oneLine(reason, 200)}`);
  }

  disallowed(): void {
    this.#disallowed += 1;
  }

  /** @param reason why it ended before its time, as a sentence. */
  ended(reason: string): void {
    this.#ending = reason;
  }

  get pages(): number {
    return this.#found.length;
  }

  /** The first failure, for a crawl that found nothing. */
  get trouble(): string | undefined {
    return this.#ending ?? this.#failures[0]?.slice(2);
  }

  get summary(): string {
    return `read ${count(this.#found.length, 'page')}, ${this.#answering().length} with matching passages`;
  }

  toString(): string {
    const answering = this.#answering();
    const rest = this.#found.filter(({ passages }) => passages.length === 0);
    const parts = [
      `Crawled ${this.#what}: ${this.summary}.`,
      ...(this.#ending === undefined ? [] : [this.#ending]),
      ...answering.map(({ url, title, passages }) => section(url, title, passages.join('\n\n'))),
      // A query may be no words to look for, but a task: then the pages speak for themselves.
      ...(answering.length === 0 ? rest.map(({ url, title, opening }) => section(url, title, opening)) : []),
      ...(answering.length > 0 && rest.length > 0 ? [list('Read without a match:', rest.map(line))] : []),
      ...(this.#failures.length > 0 ? [list(`Not read (${this.#failed}):`, this.#failures)] : []),
      ...(this.#disallowed > 0
        ? [`Left out because robots.txt says so: ${count(this.#disallowed, 'page')}.`]
        : []),
    ];
    const text = parts.join('\n\n');
    return text.length <= MAX_CHARACTERS
      ? text
      : `${beginning(text, MAX_CHARACTERS)}\n[… the rest is left out …]`;
  }

  /** Those with the most of the query first. */
  #answering(): Found[] {
    return this.#found
      .filter(({ passages }) => passages.length > 0)
      .toSorted((a, b) => b.matches - a.matches);
  }
}

function section(url: URL, title: string, text: string): string {
  return `=== ${title}\n${url.href}\n\n${text}`;
}

function line({ url, title }: Found): string {
  return `- ${title}: ${url.href}`;
}

function list(heading: string, lines: readonly string[]): string {
  return [heading, ...lines].join('\n');
}
