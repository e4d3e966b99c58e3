/** A GET with its redirects followed by hand, each hop judged as the first was (X2), all of it bounded in time and size. */
import { onAbort } from '../../../shared/abort.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { IncomingMessage } from 'node:http';
import type { AllowedHosts } from './allowed-hosts.ts';
import { readBody, type Body } from './body.ts';
import { withinLimit } from './limit.ts';
import { mediaType, type MediaType } from './media-type.ts';
import { networkFailure } from './network-failure.ts';
import { addressesOf } from './reach.ts';
import type { Resolve } from './resolve.ts';
import { sendGet } from './send-get.ts';
import { webUrl } from './web-url.ts';

/** As browsers have it, fewer: nothing that means well needs more. */
const MAX_REDIRECTS = 5;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** What of the world a request needs. */
export interface Web {
  allowed: AllowedHosts;
  resolve: Resolve;
  clock: Clock;
}

export interface GetOptions {
  signal: AbortSignal;
  /** For everything, redirects and body included, in milliseconds. */
  timeMs: number;
  /** Of the body, after decompression. */
  maxBytes: number;
  accept: string;
  /** Whether the body of such an answer is worth reading; the connection is closed at once where not. */
  wants: (head: Head) => boolean;
  /** Called before a redirect is followed; throws where it must not be. */
  onRedirect?: (to: URL) => void;
}

export interface Head {
  /** Where the answer came from, after redirects. */
  url: URL;
  status: number;
  /** E.g. `404 Not Found`. */
  statusLine: string;
  media: MediaType;
  /** As the server says, in bytes; not to be relied on. */
  length: number | undefined;
}

export interface Answer extends Head {
  /** Undefined when it was not wanted. */
  body: Body | undefined;
}

/**
 * The answer, of whatever status.
 * @throws AbortError once `signal` has aborted; ProductError FORBIDDEN, MALFORMED for a place that is not gone to; Error, in
 * words, for a network or server that fails, or takes too long.
 */
export function get(url: URL, web: Web, options: GetOptions): Promise<Answer> {
  return withinLimit(options, web.clock, async (signal) => {
    const seen = new Set<string>();
    for (let at = webUrl(url.href, web); ;) {
      signal.throwIfAborted();
      seen.add(at.href);
      const answered = await hop(at, web, { ...options, signal });
      if (!(answered instanceof URL)) return answered;
      options.onRedirect?.(answered);
      if (seen.has(answered.href)) throw new Error(`${url.host} redirects in a circle (${answered.href}).`);
      if (seen.size > MAX_REDIRECTS)
        throw new Error(`${url.host} redirects more than ${MAX_REDIRECTS} times.`);
      at = answered;
    }
  });
}

/** One request: an answer, or where to go next. */
async function hop(
  url: URL,
  web: Web,
  { signal, accept, wants, maxBytes }: GetOptions,
): Promise<Answer | URL> {
  try {
    const addresses = await unlessAborted(addressesOf(url, web), signal);
    const response = await sendGet(url, { addresses, accept, signal });
    const head = headOf(url, response);
    const { location } = response.headers;
    if (REDIRECTS.has(head.status) && location !== undefined) {
      response.destroy();
      return webUrl(asUtf8(location), { allowed: web.allowed, base: url });
    }
    if (wants(head)) return { ...head, body: await readBody(response, maxBytes) };
    response.destroy();
    return { ...head, body: undefined };
  } catch (error) {
    signal.throwIfAborted();
    throw networkFailure(error, url);
  }
}

function headOf(url: URL, { statusCode = 0, statusMessage = '', headers }: IncomingMessage): Head {
  const length = Number(headers['content-length'] ?? Number.NaN);
  return {
    url,
    status: statusCode,
    statusLine: `${statusCode} ${statusMessage.replaceAll(/[^\x20-\x7e]/gu, '').slice(0, 100)}`.trim(),
    media: mediaType(headers['content-type']),
    length: Number.isSafeInteger(length) ? length : undefined,
  };
}

/** Node gives header values byte for byte (latin1); servers write URLs in UTF-8. */
function asUtf8(header: string): string {
  return Buffer.from(header, 'latin1').toString('utf8');
}

/** What cannot be called off, such as a look-up of a name, is left to itself. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason));
    void work.then(resolve, reject).finally(stopListening);
  });
}
