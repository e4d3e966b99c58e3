import { createHash } from 'node:crypto';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { fetchUrl, type WebResponse, type FetchDependencies } from '../fetch-url.ts';
import { bodyReadModeOf } from '../media-type.ts';
import { parseWebPage } from '../parse-web-page.ts';
import type { ToolRun } from '../../tool.ts';
import type { CrawlReport } from './crawl-report.ts';
import { CrawlFrontier, type FrontierPage } from './frontier.ts';
import type { SiteRequestPacer } from './request-pacer.ts';
import type { QueryWords } from './query-words.ts';
import { readRobots, type RobotsRules } from './robots.ts';

/** The time between two requests to a site, if robots.txt sets none. */
const GAP_MS = 1_000;

const PAGE_MS = 20_000;

const MAX_BYTES = 2 * 1024 * 1024;

/**
 * The maximum length of a page's text. The search for the words of the query does not yield to the event loop, so a
 * longer text would block the server.
 */
const MAX_TEXT_CHARS = 200_000;

/**
 * The maximum number of times that the start URL may redirect to another site, e.g. to the main host name and then to
 * https.
 */
const MAX_START_REDIRECTS = 3;

interface CrawlOptions {
  start: URL;
  query: QueryWords;
  maxPages: number;
  /** The time after which the crawl requests no further page, as `Clock.elapsed` gives it. */
  until: number;
  report: CrawlReport;
  signal: AbortSignal;
  output: ToolRun['output'];
  web: FetchDependencies;
  pace: SiteRequestPacer;
  /** The crawl calls this before it follows a redirect. The function throws to refuse the host. */
  onHost: (to: URL) => void;
}

/**
 * Crawls a site from one page. Obeys robots.txt and the limits for requests, pages, depth, size and time. A2: checks
 * the signal after each await.
 * @throws AbortError after an abort
 * @throws ProductError or Error if the first page fails. The report contains later errors.
 */
export async function crawlSite(crawl: CrawlOptions): Promise<void> {
  let { start } = crawl;
  for (let moves = 0; ; moves += 1) {
    const moved = await crawlFrom(start, crawl);
    if (moved === undefined) return;
    if (moves === MAX_START_REDIRECTS)
      throw new Error(`${crawl.start.href} redirects from site to site; crawl ${moved.href} instead.`);
    crawl.onHost(moved);
    crawl.output(`${start.origin} redirects to ${moved.href}\n`);
    start = moved;
  }
}

/** Thrown when the site redirects a request to another site. */
class OtherSiteError extends Error {
  readonly to: URL;

  constructor(to: URL) {
    super(`redirects to another site (${to.href})`);
    this.to = to;
  }
}

interface CrawlInProgress extends CrawlOptions {
  robots: RobotsRules;
  frontier: CrawlFrontier;
  /** The hashes of the texts read so far. A page with a known text is the same page under another URL. */
  texts: Set<string>;
}

/** Crawls from `start`. If `start` redirects to another site, returns the redirect target instead. */
async function crawlFrom(start: URL, crawl: CrawlOptions): Promise<URL | undefined> {
  const robots = await readRobots(start, crawl);
  const going = {
    ...crawl,
    robots,
    frontier: new CrawlFrontier(start, crawl.query),
    texts: new Set<string>(),
  };
  if (!robots.allows(start))
    throw new Error(
      `The robots.txt of ${start.host} forbids robots to read ${start.href}. To read a single page, use fetch.`,
    );
  for (let asked = 0; asked < crawl.maxPages;) {
    const place = nextAllowed(going);
    if (place === undefined) return undefined;
    if (!(await waitForTurn(start, going))) return undefined;
    asked += 1;
    const progress = { done: asked, total: crawl.maxPages };
    crawl.output(`page ${asked} of ${crawl.maxPages}: ${place.url.href}\n`, progress);
    const end = await visit(place, going);
    if (end === 'stop') return undefined;
    if (end instanceof OtherSiteError) return end.to;
    crawl.signal.throwIfAborted();
  }
  return undefined;
}

function nextAllowed({ frontier, robots, report }: CrawlInProgress): FrontierPage | undefined {
  for (;;) {
    const place = frontier.next();
    if (place === undefined || robots.allows(place.url)) return place;
    report.disallowed();
  }
}

/** Waits until the next request may start. Returns false if that would be after the time limit. */
async function waitForTurn(
  { origin }: URL,
  { robots, pace, until, report, signal, output, web }: CrawlInProgress,
): Promise<boolean> {
  const gapMs = robots.gapMs ?? GAP_MS;
  const at = pace.turnAt(origin);
  if (at > until) {
    report.ended(
      `The crawl ended early because of its time limit: it waits ${gapMs / 1000} s between two pages.`,
    );
    return false;
  }
  const wait = at - web.clock.elapsed();
  if (wait > GAP_MS) output(`waiting ${Math.ceil(wait / 1000)} s before the next request to the site\n`);
  await pace.turn(origin, gapMs, signal);
  return true;
}

async function visit(
  place: FrontierPage,
  going: CrawlInProgress,
): Promise<'go on' | 'stop' | OtherSiteError> {
  const { signal, report } = going;
  try {
    const answer = await request(place, going);
    signal.throwIfAborted();
    // RFC 6585 §4, RFC 9110 §15.6.4: the site asks for fewer requests.
    if (answer.status === 429 || answer.status === 503) {
      report.failed(place.url, answer.statusLine);
      report.ended(`The crawl ended early: the site asked for a pause (${answer.statusLine}).`);
      return 'stop';
    }
    await addPageToReport(answer, place, going);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OtherSiteError && place.depth === 0) return error;
    report.failed(place.url, errorMessageOf(error));
  }
  return 'go on';
}

function request(
  { url }: FrontierPage,
  { web, signal, robots, frontier }: CrawlInProgress,
): Promise<WebResponse> {
  return fetchUrl(url, web, {
    signal,
    timeMs: PAGE_MS,
    maxBytes: MAX_BYTES,
    accept: 'text/html, application/xhtml+xml, text/plain;q=0.8',
    wants: ({ media, status }) => status >= 200 && status < 300 && bodyReadModeOf(media) !== 'none',
    onRedirect: (to) => {
      if (to.origin !== url.origin) throw new OtherSiteError(to);
      if (!robots.allows(to)) throw new Error('redirects to a page that robots.txt forbids');
      frontier.alsoKnownAs(to);
    },
  });
}

async function addPageToReport(
  answer: WebResponse,
  { url, depth }: FrontierPage,
  going: CrawlInProgress,
): Promise<void> {
  const { report, frontier, texts, signal } = going;
  if (answer.status < 200 || answer.status > 299) return report.failed(url, answer.statusLine);
  const { body } = answer;
  const page = body && (await parseWebPage(answer, body, { signal, maxCharacters: MAX_TEXT_CHARS }));
  if (page === undefined) return report.failed(url, `no text (${answer.media.type || 'no type'})`);
  if (page.canonical?.origin === answer.url.origin) frontier.alsoKnownAs(page.canonical);
  const hash = createHash('sha256').update(page.text).digest('base64');
  if (texts.has(hash)) return;
  texts.add(hash);
  report.page(answer.url, page);
  frontier.add(page.links, depth + 1);
}
