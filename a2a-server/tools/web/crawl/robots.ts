import robots from 'robots-parser';
import { z } from 'zod';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { TimeExceededError, runWithinTime } from '../../../runtime/sync-time-limit.ts';
import { decodeText } from '../decode-text.ts';
import { fetchUrl, type WebResponse, type FetchDependencies } from '../fetch-url.ts';
import { ROBOTS_PRODUCT_TOKEN } from '../send-to-pinned-addresses.ts';

export interface RobotsRules {
  allows(url: URL): boolean;
  /** The time between two requests. Undefined if the site sets none. */
  gapMs: number | undefined;
}

/** The maximum size of robots.txt. RFC 9309 §2.5: a crawler must read at least 500 KiB. */
const MAX_BYTES = 512 * 1024;
const TIME_MS = 15_000;

/**
 * The longest time between two requests. A crawl with this gap reads only one page, so a larger gap changes nothing.
 */
const MAX_GAP_MS = 60 * 60_000;

/** The rules are untrusted, so parsing them and matching a URL have a time limit. */
const PARSE_MS = 500;
const MATCH_MS = 100;

/** The function of the package. Its type declarations are wrong: they declare the function as `default`. */
const robotsParser = z.custom<typeof robots.default>((it) => typeof it === 'function').parse(robots);

const EVERYTHING: RobotsRules = { allows: () => true, gapMs: undefined };

/**
 * Reads the robots.txt of the site of `url` (RFC 9309). A site without robots.txt allows everything (§2.3.1.3).
 * @throws AbortError after an abort
 * @throws Error if the rules cannot be read. The crawl must then read nothing (§2.3.1.4).
 */
export async function readRobots(
  url: URL,
  { web, signal, onHost }: { web: FetchDependencies; signal: AbortSignal; onHost: (to: URL) => void },
): Promise<RobotsRules> {
  const at = new URL('/robots.txt', url);
  try {
    const answer = await fetchUrl(at, web, {
      signal,
      timeMs: TIME_MS,
      maxBytes: MAX_BYTES,
      accept: 'text/plain, */*;q=0.5',
      wants: isGood,
      onRedirect: onHost,
    });
    if (answer.status >= 400 && answer.status < 500) return EVERYTHING;
    if (answer.body === undefined) throw new Error(`it answered ${answer.statusLine}`);
    return rulesIn(decodeText(answer.body.bytes, { charset: 'utf-8', markup: false }), at);
  } catch (error) {
    signal.throwIfAborted();
    const reason = errorMessageOf(error);
    throw new Error(`The crawl cannot read ${url.host} because it cannot read its robots.txt: ${reason}`, {
      cause: error,
    });
  }
}

function isGood({ status }: Pick<WebResponse, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/** Parses a robots.txt. @param at the URL of robots.txt. The rules apply to its site. */
function rulesIn(text: string, at: URL): RobotsRules {
  const rules = runWithinTime(PARSE_MS, () => robotsParser(at.href, text));
  const delay = rules.getCrawlDelay(ROBOTS_PRODUCT_TOKEN);
  return {
    allows: (url) => {
      try {
        return runWithinTime(MATCH_MS, () => rules.isAllowed(url.href, ROBOTS_PRODUCT_TOKEN)) === true;
      } catch (error) {
        if (error instanceof TimeExceededError) return false;
        throw error;
      }
    },
    gapMs: delay !== undefined && delay > 0 ? Math.min(delay * 1000, MAX_GAP_MS) : undefined,
  };
}
