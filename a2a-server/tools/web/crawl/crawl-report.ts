/** Collects the results of a crawl as text for the model. A stopped crawl returns the results so far. */
import { countWithNoun, oneLineExcerpt } from '../../../../shared/text/one-line.ts';
import { truncate } from '../../../../shared/text/shortened-text.ts';
import type { WebPage } from '../parse-html-page.ts';
import { type QueryWords, bestPassages } from './query-words.ts';

interface FoundPage {
  url: URL;
  title: string;
  passages: string[];
  /** The number of query words on the page. */
  matches: number;
  opening: string;
}

const MAX_CHARACTERS = 40_000;
const MAX_OPENING_CHARS = 1_500;
const MAX_FAILURES = 20;

export class CrawlReport {
  readonly #what: string;
  readonly #query: QueryWords;
  readonly #found: FoundPage[] = [];
  readonly #failures: string[] = [];
  #failed = 0;
  #disallowed = 0;
  #ending: string | undefined;

  constructor(what: string, query: QueryWords) {
    this.#what = what;
    this.#query = query;
  }

  page(url: URL, { title, text }: WebPage): void {
    this.#found.push({
      url,
      title: title === '' ? url.pathname : title,
      passages: bestPassages(text, this.#query),
      matches: this.#query.matches(`${title}\n${text}`),
      opening: truncate(text, MAX_OPENING_CHARS),
    });
  }

  /** Records that a page could not be read. @param reason a sentence, or a status line such as `404 Not Found` */
  failed(url: URL, reason: string): void {
    this.#failed += 1;
    if (this.#failures.length < MAX_FAILURES)
      this.#failures.push(`- ${url.href}: ${oneLineExcerpt(reason, 200)}`);
  }

  disallowed(): void {
    this.#disallowed += 1;
  }

  /** Records why the crawl ended early. @param reason a sentence */
  ended(reason: string): void {
    this.#ending = reason;
  }

  get pages(): number {
    return this.#found.length;
  }

  /** Returns the reason why a crawl found nothing, if a reason is known. */
  get trouble(): string | undefined {
    return this.#ending ?? this.#failures[0]?.slice(2);
  }

  get summary(): string {
    return `read ${countWithNoun(this.#found.length, 'page')}, ${this.#pagesByMatches().length} with matching passages`;
  }

  toString(): string {
    const answering = this.#pagesByMatches();
    const rest = this.#found.filter(({ passages }) => passages.length === 0);
    const parts = [
      `Crawled ${this.#what}: ${this.summary}.`,
      ...(this.#ending === undefined ? [] : [this.#ending]),
      ...answering.map(({ url, title, passages }) => pageSection(url, title, passages.join('\n\n'))),
      // A query can describe a task without matching words. Then the report shows the beginning of each page.
      ...(answering.length === 0
        ? rest.map(({ url, title, opening }) => pageSection(url, title, opening))
        : []),
      ...(answering.length > 0 && rest.length > 0
        ? [headedList('Read without a match:', rest.map(pageLine))]
        : []),
      ...(this.#failures.length > 0 ? [headedList(`Not read (${this.#failed}):`, this.#failures)] : []),
      ...(this.#disallowed > 0
        ? [`Skipped because robots.txt forbids it: ${countWithNoun(this.#disallowed, 'page')}.`]
        : []),
    ];
    const text = parts.join('\n\n');
    return text.length <= MAX_CHARACTERS ? text : `${truncate(text, MAX_CHARACTERS)}\n[… rest omitted …]`;
  }

  #pagesByMatches(): FoundPage[] {
    return this.#found
      .filter(({ passages }) => passages.length > 0)
      .toSorted((a, b) => b.matches - a.matches);
  }
}

function pageSection(url: URL, title: string, text: string): string {
  return `=== ${title}\n${url.href}\n\n${text}`;
}

function pageLine({ url, title }: FoundPage): string {
  return `- ${title}: ${url.href}`;
}

function headedList(heading: string, lines: readonly string[]): string {
  return [heading, ...lines].join('\n');
}
