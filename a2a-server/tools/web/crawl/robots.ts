/** robots.txt, as RFC 9309 has it: what of a site may be crawled, and how fast. */
import robots from 'robots-parser';
import { z } from 'zod';
import { TimeExceeded, withinTime } from '../../bounded-time.ts';
import { decodeText } from '../charset.ts';
import { get, type Answer, type Web } from '../get.ts';
import { ROBOT } from '../send-get.ts';

export interface Robots {
  /** Whether this URL of the site may be read. */
  allows(url: URL): boolean;
  /** How long to wait between two requests, in milliseconds; undefined where the site does not say. */
  gapMs: number | undefined;
}

/** RFC 9309 §2.5: a crawler reads 500 KiB at least. */
const MAX_BYTES = 512 * 1024;
const TIME_MS = 15_000;

/** Who asks for more gets no second request anyway. */
const MAX_GAP_MS = 60 * 60_000;

/** For what somebody else's rules cost to read or to match, in milliseconds. */
const PARSE_MS = 500;
const MATCH_MS = 100;

/** The package's types have the function one level deeper than it is. */
const robotsParser = z.custom<typeof robots.default>((it) => typeof it === 'function').parse(robots);

const EVERYTHING: Robots = { allows: () => true, gapMs: undefined };

/**
 * The rules of the site `url` belongs to. A site without robots.txt allows everything (RFC 9309 §2.3.1.3).
 * @throws AbortError; Error where the rules cannot be read: then nothing may be (RFC 9309 §2.3.1.4).
 */
export async function readRobots(url: URL, web: Web, signal: AbortSignal): Promise<Robots> {
  const at = new URL('/robots.txt', url);
  try {
    const answer = await get(at, web, {
      signal,
      timeMs: TIME_MS,
      maxBytes: MAX_BYTES,
      accept: 'text/plain, */*;q=0.5',
      wants: isGood,
    });
    if (answer.status >= 400 && answer.status < 500) return EVERYTHING;
    if (answer.body === undefined) throw new Error(`it answered ${answer.statusLine}`);
    return rulesIn(decodeText(answer.body.bytes, { charset: 'utf-8', markup: false }), at);
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Nothing of ${url.host} may be crawled while its robots.txt cannot be read: ${reason}`, {
      cause: error,
    });
  }
}

function isGood({ status }: Pick<Answer, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/** @param at where the rules were found, which is what they hold for. */
function rulesIn(text: string, at: URL): Robots {
  const rules = withinTime(PARSE_MS, () => robotsParser(at.href, text));
  const delay = rules.getCrawlDelay(ROBOT);
  return {
    allows: (url) => {
      try {
        return withinTime(MATCH_MS, () => rules.isAllowed(url.href, ROBOT)) === true;
      } catch (error) {
        if (error instanceof TimeExceeded) return false;
        throw error;
      }
    },
    gapMs: delay !== undefined && delay > 0 ? Math.min(delay * 1000, MAX_GAP_MS) : undefined,
  };
}
