import { parseUrl } from '../../../shared/net/parse-url.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { hostnameOfUrl, type IsPrivateHostAllowed } from './allowed-hosts.ts';
import { whyNotPublic } from './public-address.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';

/** The maximum length of a URL. RFC 9110 §4.1: servers should accept URLs of at least 8000 octets. */
const MAX_URL_CHARS = 8_000;

/**
 * Parses a URL for `fetch` and `crawl`, checks it, and removes its fragment. Makes no DNS request. X2: the checks use
 * the result of the WHATWG parser, never the text.
 * @param base the base of a relative URL
 * @throws ProductError MALFORMED if the text is not an http or https URL
 * @throws ProductError FORBIDDEN if the URL itself shows that its host is not allowed
 */
export function parseWebUrl(
  text: string,
  { allowed, base }: { allowed: IsPrivateHostAllowed; base?: URL },
): URL {
  const shown = oneLineExcerpt(text, 200);
  const url = text.length > MAX_URL_CHARS ? undefined : parseUrl(text, base);
  if (url === undefined)
    throw new ProductError(
      'MALFORMED',
      `"${shown}" is not a URL. Give an absolute URL, e.g. https://example.com/page.`,
    );
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ProductError('MALFORMED', `"${shown}" is not an http or https URL. Use http or https.`);
  if (url.username !== '' || url.password !== '')
    throw new ProductError(
      'FORBIDDEN',
      `The URL of ${url.host} contains a user name or password, which the server never sends. Remove it.`,
    );
  url.hash = '';
  if (!allowed(url)) refuseLocal(url);
  return url;
}

/** Refuses a local name before the person is asked and before a DNS request. */
function refuseLocal(url: URL): void {
  const host = hostnameOfUrl(url);
  // RFC 6761 §6.3: names below localhost are this machine.
  const reason = /(^|\.)localhost$/u.test(host) ? 'this machine (loopback)' : literalProblem(host);
  if (reason !== undefined) throw refusedUrlError(url, reason);
}

function literalProblem(host: string): string | undefined {
  const literal = ipAddressIn(host);
  return literal === undefined ? undefined : whyNotPublic(literal);
}

/** Returns the IP address if the host is an IP address. Otherwise returns undefined. */
export function ipAddressIn(host: string): string | undefined {
  if (host.startsWith('[')) return host.slice(1, -1);
  // The URL parser normalizes IPv4 addresses, so a host of digits and dots is an IPv4 address.
  return /^\d+\.\d+\.\d+\.\d+$/u.test(host) ? host : undefined;
}

/** Returns the error for a URL that must not be requested. @param reason the end of the sentence "… is " */
export function refusedUrlError(url: URL, reason: string): ProductError {
  return new ProductError(
    'FORBIDDEN',
    `${url.host} is ${reason}, and the server fetches only public addresses. The operator of the server can allow it with --allow-private-host ${url.host}.`,
    { facts: { host: url.host } },
  );
}
