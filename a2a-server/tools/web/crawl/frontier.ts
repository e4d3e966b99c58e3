/** The pages a crawl knows of and has not read: what comes next, and what is left out. */
import { looksLikePage, looksLikeTrap, pageKey, tidy } from './same-page.ts';
import type { PageLink } from '../page-marks.ts';
import type { Query } from './query.ts';

export interface Place {
  url: URL;
  /** How many links away from the start. */
  depth: number;
}

interface Waiting extends Place {
  matches: number;
  order: number;
}

const MAX_DEPTH = 5;
const MAX_WAITING = 1_000;
/** Also bounds what is remembered of pages seen. */
const MAX_SEEN = 10_000;
/** A path with ever new queries (calendars, filters, sorting) is read so often and no more. */
const MAX_QUERIES = 5;

export class Frontier {
  readonly #origin: string;
  readonly #query: Query;
  readonly #seen = new Set<string>();
  /** Path → how many queries of it have been let in. */
  readonly #queries = new Map<string, number>();
  #waiting: Waiting[] = [];
  #order = 0;

  /** @param start where the crawl begins; it goes to no other origin. */
  constructor(start: URL, query: Query) {
    this.#origin = start.origin;
    this.#query = query;
    this.#admit({ url: tidy(start), depth: 0, matches: 0, order: 0 });
  }

  /** Takes in the links of a page that lead on; each page once, by whatever URL. */
  add(links: readonly PageLink[], depth: number): void {
    if (depth > MAX_DEPTH) return;
    for (const { url, text } of links) {
      if (this.#waiting.length >= MAX_WAITING || this.#seen.size >= MAX_SEEN) return;
      if (url.origin !== this.#origin || url.username !== '' || url.password !== '') continue;
      if (!looksLikePage(url) || looksLikeTrap(url)) continue;
      const matches = this.#query.matches(`${text} ${readable(url)}`);
      this.#admit({ url: tidy(url), depth, matches, order: (this.#order += 1) });
    }
  }

  /** The page goes by this URL too, after a redirect or by its own word. */
  alsoKnownAs(url: URL): void {
    this.#seen.add(pageKey(url));
    this.#waiting = this.#waiting.filter((waiting) => pageKey(waiting.url) !== pageKey(url));
  }

  /** What to read next: links that match the query first; among equals breadth first, in the order of the pages. */
  next(): Place | undefined {
    const best = this.#waiting.toSorted(byPromise)[0];
    this.#waiting = this.#waiting.filter((waiting) => waiting !== best);
    return best;
  }

  #admit(place: Waiting): void {
    const key = pageKey(place.url);
    if (this.#seen.has(key)) return;
    if (place.url.search !== '') {
      const queries = this.#queries.get(place.url.pathname) ?? 0;
      if (queries >= MAX_QUERIES) return;
      this.#queries.set(place.url.pathname, queries + 1);
    }
    this.#seen.add(key);
    this.#waiting.push(place);
  }
}

function byPromise(a: Waiting, b: Waiting): number {
  return (
    Number(b.matches > 0) - Number(a.matches > 0) ||
    a.depth - b.depth ||
    b.matches - a.matches ||
    a.order - b.order
  );
}

/** The words in a URL, e.g. of `/docs/tool-abort`. */
function readable({ pathname, search }: URL): string {
  const text = `${pathname} ${search}`.replaceAll(/[-_./?&=+]/gu, ' ');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
