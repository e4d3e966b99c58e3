/** URLs as `fetch` and `crawl` take them. The WHATWG parser decides what a spelling means; then it is judged (X2). */
import { parseUrl } from '../../../shared/parse-url.ts';
import { ProductError } from '../../../shared/errors.ts';
import { hostOf, type AllowedHosts } from './allowed-hosts.ts';
import { notPublic } from './address.ts';
import { oneLine } from '../one-line.ts';

/** Beyond this no server takes one (RFC 9110 §4.1 asks for at least 8000 octets). */
const MAX_URL = 8_000;

/**
 * The URL, without its fragment, which is no part of a request.
 * @param base what a relative one is relative to.
 * @throws ProductError MALFORMED, or FORBIDDEN where it names a place it must not (as far as can be told without asking DNS).
 */
export function webUrl(text: string, { allowed, base }: { allowed: AllowedHosts; base?: URL }): URL {
  const shown = oneLine(text, 200);
  const url = text.length > MAX_URL ? undefined : parseUrl(text, base);
  if (url === undefined)
    throw new ProductError(
      'MALFORMED',
      `"${shown}" is not a URL. Give a whole one, e.g. https://example.com/page.`,
    );
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ProductError(
      'FORBIDDEN',
      `"${shown}" is not an http or https URL, and no other kind is fetched.`,
    );
  if (url.username !== '' || url.password !== '')
    throw new ProductError(
      'FORBIDDEN',
      `The URL of ${url.host} holds a user name or password; these are never sent.`,
    );
  url.hash = '';
  if (!allowed(url)) refuseLocal(url);
  return url;
}

/** What is no public place already by its name needs no question to a person, and none to DNS. */
function refuseLocal(url: URL): void {
  const host = hostOf(url);
  // RFC 6761 §6.3: names below localhost are this machine.
  const reason = /(^|\.)localhost$/u.test(host) ? 'this machine (loopback)' : literalProblem(host);
  if (reason !== undefined) throw unreachable(url, reason);
}

function literalProblem(host: string): string | undefined {
  const literal = addressIn(host);
  return literal === undefined ? undefined : notPublic(literal);
}

/** The IP address a URL's host is, if it is one. */
export function addressIn(host: string): string | undefined {
  if (host.startsWith('[')) return host.slice(1, -1);
  // After the URL parser a host of digits and dots is an IPv4 address in its usual notation, and nothing else.
  return /^\d+\.\d+\.\d+\.\d+$/u.test(host) ? host : undefined;
}

/** @param reason as the end of "… is ". */
export function unreachable(url: URL, reason: string): ProductError {
  return new ProductError(
    'FORBIDDEN',
    `${url.host} is ${reason}, and only public addresses are fetched. The operator of the server can allow it with --allow-private-host ${url.host}.`,
    { facts: { host: url.host } },
  );
}
