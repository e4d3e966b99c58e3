import type { WebLink } from '../page-metadata.ts';
import type { QueryWords } from './query-words.ts';

export interface FrontierPage {
  url: URL;
  /** The number of links from the start page. */
  depth: number;
}

interface WaitingPage extends FrontierPage {
  matches: number;
  order: number;
}

const MAX_DEPTH = 5;
const MAX_WAITING_PAGES = 1_000;
const MAX_SEEN_PAGES = 10_000;
/** The maximum number of queries for one path. Calendars and filters produce endless queries. */
const MAX_QUERIES = 5;

export class CrawlFrontier {
  readonly #origin: string;
  readonly #query: QueryWords;
  readonly #seen = new Set<string>();
  readonly #queries = new Map<string, number>();
  #waiting: WaitingPage[] = [];
  #order = 0;

  /** @param start the first page. The frontier admits only pages of its origin. */
  constructor(start: URL, query: QueryWords) {
    this.#origin = start.origin;
    this.#query = query;
    this.#addWaitingPage({ url: normalizedPageUrl(start), depth: 0, matches: 0, order: 0 });
  }

  /** Adds the pages to which a page links. A page with several known URLs is added only once. */
  add(links: readonly WebLink[], depth: number): void {
    if (depth > MAX_DEPTH) return;
    for (const { url, text } of links) {
      if (this.#waiting.length >= MAX_WAITING_PAGES || this.#seen.size >= MAX_SEEN_PAGES) return;
      if (url.origin !== this.#origin || url.username !== '' || url.password !== '') continue;
      if (!looksLikeWebPage(url) || looksLikeCrawlerTrap(url)) continue;
      const matches = this.#query.matches(`${text} ${urlWords(url)}`);
      this.#addWaitingPage({ url: normalizedPageUrl(url), depth, matches, order: (this.#order += 1) });
    }
  }

  /** Records another URL of a known page, from a redirect or a canonical link. */
  alsoKnownAs(url: URL): void {
    this.#seen.add(canonicalPageKey(url));
    this.#waiting = this.#waiting.filter(
      (waiting) => canonicalPageKey(waiting.url) !== canonicalPageKey(url),
    );
  }

  /**
   * Removes and returns the next page. Links that match the query come first, then pages nearer to the start, then
   * links in document order.
   */
  next(): FrontierPage | undefined {
    const best = this.#waiting.toSorted(byPromise)[0];
    this.#waiting = this.#waiting.filter((waiting) => waiting !== best);
    return best;
  }

  #addWaitingPage(place: WaitingPage): void {
    const key = canonicalPageKey(place.url);
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

function byPromise(a: WaitingPage, b: WaitingPage): number {
  return (
    Number(b.matches > 0) - Number(a.matches > 0) ||
    a.depth - b.depth ||
    b.matches - a.matches ||
    a.order - b.order
  );
}

/** Returns the words of a URL, e.g. of `/docs/tool-abort`. */
function urlWords({ pathname, search }: URL): string {
  const text = `${pathname} ${search}`.replaceAll(/[-_./?&=+]/gu, ' ');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const TRACKING_PARAMETER = /^(utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|yclid|ref_src|_ga|_gl)$/iu;

const SESSION_ID_PARAMETER = /^(phpsessid|jsessionid|sessionid|session_id|sid|aspsessionid\w*)$/iu;

/** Matches the extensions of files that are not pages. This check saves a request. */
const NO_PAGE =
  /\.(?:7z|apk|avi|bin|bmp|bz2|css|dmg|docx?|eot|epub|exe|gif|gz|ico|iso|jar|jpe?g|js|map|mjs|mov|mp[34]|mpe?g|msi|od[pst]|ogg|otf|pdf|png|pptx?|rar|rpm|svg|tar|tgz|tiff?|ttf|wav|web[mp]|woff2?|xlsx?|xz|zip)$/iu;

const MAX_URL_CHARS = 1_000;
const MAX_SEGMENTS = 12;
const MAX_PARAMETERS = 6;
/**
 * The maximum number of repetitions of a name in a path. Relative links can produce endless paths that repeat a name.
 */
const MAX_REPEATS = 2;

/** Removes the fragment, tracking parameters and session ids. */
function normalizedPageUrl(url: URL): URL {
  const tidied = new URL(url);
  tidied.hash = '';
  // The loop deletes only names that exist, because each `delete` rewrites the whole query. It reads the names from
  // the original URL, because `delete` changes the copy.
  for (const name of url.searchParams.keys())
    if (TRACKING_PARAMETER.test(name) || SESSION_ID_PARAMETER.test(name)) tidied.searchParams.delete(name);
  tidied.pathname = url.pathname.replace(/;jsessionid=[^/]*/giu, '');
  if (tidied.search === '') tidied.search = '';
  return tidied;
}

/** Returns the same key for all URLs of one page. */
function canonicalPageKey(url: URL): string {
  const key = normalizedPageUrl(url);
  key.searchParams.sort();
  return key.href;
}

function looksLikeCrawlerTrap(url: URL): boolean {
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  return (
    url.href.length > MAX_URL_CHARS ||
    segments.length > MAX_SEGMENTS ||
    [...url.searchParams.keys()].length > MAX_PARAMETERS ||
    segments.some((segment) => segments.filter((other) => other === segment).length > MAX_REPEATS)
  );
}

function looksLikeWebPage(url: URL): boolean {
  return !NO_PAGE.test(url.pathname);
}
