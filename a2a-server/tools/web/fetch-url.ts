import { unlessAborted } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { startTimeout } from '../../runtime/timeout.ts';
import type { IncomingMessage } from 'node:http';
import type { IsPrivateHostAllowed } from './allowed-hosts.ts';
import { readLimitedBody, type LimitedBody } from './limited-body.ts';
import { parseMediaType, type MediaType } from './media-type.ts';
import { toNetworkError } from './network-failure.ts';
import { resolveCheckedAddresses, type ResolveHost } from './resolve-checked-host.ts';
import { sendGetToPinnedAddresses } from './send-to-pinned-addresses.ts';
import { parseWebUrl } from './web-url.ts';

/** The maximum number of redirects. Browsers allow more, but ordinary sites need no more than this. */
const MAX_REDIRECTS = 5;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export interface FetchDependencies {
  allowed: IsPrivateHostAllowed;
  resolve: ResolveHost;
  clock: Clock;
}

interface GetOptions {
  signal: AbortSignal;
  /** The time limit for the whole request, including redirects and the body, in milliseconds. */
  timeMs: number;
  /** The size limit for the body after decompression. */
  maxBytes: number;
  accept: string;
  /** Returns true if the caller needs the body. If false, the connection closes at once. */
  wants: (head: ResponseHead) => boolean;
  /** Called before each redirect. Throws to refuse the redirect. */
  onRedirect?: (to: URL) => void;
}

interface ResponseHead {
  /** The URL of the final response, after redirects. */
  url: URL;
  status: number;
  /** The status of the response, for example `404 Not Found`. */
  statusLine: string;
  media: MediaType;
  /** The Content-Length of the response in bytes. It can be wrong. */
  length: number | undefined;
}

export interface WebResponse extends ResponseHead {
  /** The body of the response. Undefined if `wants` returned false. */
  body: LimitedBody | undefined;
}

/**
 * Sends a GET and follows redirects. X2: checks each redirect like the first URL. Resolves with a response of any
 * status.
 * @throws AbortError after `signal` aborts
 * @throws ProductError FORBIDDEN or MALFORMED if the URL or a redirect is refused
 * @throws Error for a network error, a server error or a timeout
 */
export async function fetchUrl(url: URL, web: FetchDependencies, options: GetOptions): Promise<WebResponse> {
  const { signal, timeMs } = options;
  signal.throwIfAborted();
  const limit = startTimeout(web.clock, timeMs, signal);
  try {
    return await followRedirects(url, web, { ...options, signal: limit.signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!limit.expired()) throw error;
    throw new Error(`The server sent no complete response within ${timeMs / 1000} s.`, { cause: error });
  } finally {
    limit.clear();
  }
}

async function followRedirects(url: URL, web: FetchDependencies, options: GetOptions): Promise<WebResponse> {
  const seen = new Set<string>();
  for (let at = parseWebUrl(url.href, web); ;) {
    options.signal.throwIfAborted();
    seen.add(at.href);
    const answered = await requestOnce(at, web, options);
    if (!(answered instanceof URL)) return answered;
    options.onRedirect?.(answered);
    if (seen.has(answered.href)) throw new Error(`${url.host} redirects in a circle (${answered.href}).`);
    if (seen.size > MAX_REDIRECTS) throw new Error(`${url.host} redirects more than ${MAX_REDIRECTS} times.`);
    at = answered;
  }
}

/** Sends one request. Returns the response or the redirect target. */
async function requestOnce(
  url: URL,
  web: FetchDependencies,
  { signal, accept, wants, maxBytes }: GetOptions,
): Promise<WebResponse | URL> {
  try {
    const addresses = await unlessAborted(resolveCheckedAddresses(url, web), signal);
    const response = await sendGetToPinnedAddresses(url, { addresses, accept, signal });
    const head = headOf(url, response);
    const { location } = response.headers;
    if (REDIRECTS.has(head.status) && location !== undefined) {
      response.destroy();
      return parseWebUrl(asUtf8(location), { allowed: web.allowed, base: url });
    }
    if (wants(head)) return { ...head, body: await readLimitedBody(response, maxBytes) };
    response.destroy();
    return { ...head, body: undefined };
  } catch (error) {
    signal.throwIfAborted();
    throw toNetworkError(error, url);
  }
}

function headOf(url: URL, { statusCode = 0, statusMessage = '', headers }: IncomingMessage): ResponseHead {
  const length = Number(headers['content-length'] ?? Number.NaN);
  return {
    url,
    status: statusCode,
    statusLine: `${statusCode} ${statusMessage.replaceAll(/[^\x20-\x7e]/gu, '').slice(0, 100)}`.trim(),
    media: parseMediaType(headers['content-type']),
    length: Number.isSafeInteger(length) ? length : undefined,
  };
}

/** Converts a header to UTF-8. Node decodes header values as latin1, but servers write URLs in UTF-8. */
function asUtf8(header: string): string {
  return Buffer.from(header, 'latin1').toString('utf8');
}
