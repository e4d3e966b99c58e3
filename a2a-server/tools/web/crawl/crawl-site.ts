/**
 * Reads a site page by page, from one page on. Bounded in pages, depth, size and time; polite, as robots.txt and `Pace` have
 * it. The signal is checked at every await (A2), and whatever was found by then is in the report.
 */
import { createHash } from 'node:crypto';
import { messageOf } from '../../../../shared/errors.ts';
import { get, type Answer, type Web } from '../get.ts';
import { readingOf } from '../media-type.ts';
import { pageOf } from '../page.ts';
import type { CrawlReport } from './crawl-report.ts';
import { Frontier, type Place } from './frontier.ts';
import type { Pace } from './pace.ts';
import type { Query } from './query.ts';
import { readRobots, type Robots } from './robots.ts';

/** Where the site does not say how fast it may be read, in milliseconds. */
const GAP_MS = 1_000;

/** For one page, in milliseconds. */
export const PAGE_MS = 20_000;

const MAX_BYTES = 2 * 1024 * 1024;

/** Of a page's text, in characters: it is looked through at one go. */
const MAX_TEXT = 200_000;

/** A start may lead to the site's proper name, and that to its secure one. */
const MAX_MOVES = 3;

export interface Crawl {
  start: URL;
  query: Query;
  maxPages: number;
  /** When no further page is begun, in milliseconds since the epoch. */
  until: number;
  report: CrawlReport;
  signal: AbortSignal;
  /** Live, for whoever watches. */
  output: (text: string) => void;
  web: Web;
  pace: Pace;
}

/** @throws AbortError; ProductError or Error when there is no beginning. What goes wrong later is in the report. */
export async function crawlSite(crawl: Crawl): Promise<void> {
  let { start } = crawl;
  for (let moves = 0; ; moves += 1) {
    const moved = await crawlFrom(start, crawl);
    if (moved === undefined) return;
    if (moves === MAX_MOVES)
      throw new Error(`${crawl.start.href} leads from site to site; crawl ${moved.href} itself.`);
    crawl.output(`${start.origin} leads to ${moved.href}\n`);
    start = moved;
  }
}

/** What a redirect to another site ends a request with. */
class Elsewhere extends Error {
  readonly to: URL;

  constructor(to: URL) {
    super(`leads to another site (${to.href})`);
    this.to = to;
  }
}

interface Going extends Crawl {
  robots: Robots;
  frontier: Frontier;
  /** Hashes of the texts that were read: a page under many names is one. */
  texts: Set<string>;
}

/** @returns where the start leads, when that is another site. */
async function crawlFrom(start: URL, crawl: Crawl): Promise<URL | undefined> {
  const robots = await readRobots(start, crawl.web, crawl.signal);
  const going = { ...crawl, robots, frontier: new Frontier(start, crawl.query), texts: new Set<string>() };
  if (!robots.allows(start))
    throw new Error(
      `The robots.txt of ${start.host} does not let robots read ${start.href}. A single page can be fetched.`,
    );
  for (let asked = 0; asked < crawl.maxPages;) {
    const place = nextAllowed(going);
    if (place === undefined) return undefined;
    if (!(await waitForTurn(start, going))) return undefined;
    asked += 1;
    crawl.output(`page ${asked} of at most ${crawl.maxPages}: ${place.url.href}\n`);
    const end = await visit(place, going);
    if (end === 'stop') return undefined;
    if (end instanceof Elsewhere) return end.to;
    crawl.signal.throwIfAborted();
  }
  return undefined;
}

function nextAllowed({ frontier, robots, report }: Going): Place | undefined {
  for (;;) {
    const place = frontier.next();
    if (place === undefined || robots.allows(place.url)) return place;
    report.disallowed();
  }
}

/** @returns false when the turn would come too late. */
async function waitForTurn(
  { origin }: URL,
  { robots, pace, until, report, signal, output, web }: Going,
): Promise<boolean> {
  const gapMs = robots.gapMs ?? GAP_MS;
  const at = pace.turnAt(origin);
  if (at > until) {
    report.ended(
      `It ended early, for want of time: the site is read with ${gapMs / 1000} s between two pages.`,
    );
    return false;
  }
  const wait = at - web.clock.now();
  if (wait > GAP_MS) output(`waiting ${Math.ceil(wait / 1000)} s, as the site asks\n`);
  await pace.turn(origin, gapMs, signal);
  return true;
}

async function visit(place: Place, going: Going): Promise<'go on' | 'stop' | Elsewhere> {
  const { signal, report } = going;
  try {
    const answer = await request(place, going);
    signal.throwIfAborted();
    // RFC 6585 §4, RFC 9110 §15.6.4: the site has enough.
    if (answer.status === 429 || answer.status === 503) {
      report.failed(place.url, answer.statusLine);
      report.ended(`It ended early: the site asked for a pause (${answer.statusLine}).`);
      return 'stop';
    }
    await take(answer, place, going);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Elsewhere && place.depth === 0) return error;
    report.failed(place.url, messageOf(error));
  }
  return 'go on';
}

function request({ url }: Place, { web, signal, robots, frontier }: Going): Promise<Answer> {
  return get(url, web, {
    signal,
    timeMs: PAGE_MS,
    maxBytes: MAX_BYTES,
    accept: 'text/html, application/xhtml+xml, text/plain;q=0.8',
    wants: ({ media, status }) => status >= 200 && status < 300 && readingOf(media) !== 'none',
    onRedirect: (to) => {
      if (to.origin !== url.origin) throw new Elsewhere(to);
      if (!robots.allows(to)) throw new Error('leads to where robots.txt does not let robots go');
      frontier.alsoKnownAs(to);
    },
  });
}

/** Reads what was answered, and where it leads. */
async function take(answer: Answer, { url, depth }: Place, going: Going): Promise<void> {
  const { report, frontier, texts, signal } = going;
  if (answer.status < 200 || answer.status > 299) return report.failed(url, answer.statusLine);
  const { body } = answer;
  const page = body && (await pageOf(answer, body, { signal, maxCharacters: MAX_TEXT }));
  if (page === undefined) return report.failed(url, `no text (${answer.media.type || 'no type'})`);
  if (page.canonical?.origin === answer.url.origin) frontier.alsoKnownAs(page.canonical);
  const hash = createHash('sha256').update(page.text).digest('base64');
  if (texts.has(hash)) return;
  texts.add(hash);
  report.page(answer.url, page);
  frontier.add(page.links, depth + 1);
}
