/**
 * Reads the host of a URL. Checks whether the operator allows it for `fetch` and `crawl`, e.g. `127.0.0.1:8080` or
 * `wiki.intern`. An allowed host may be private.
 */
import { parseUrl } from '../../../shared/net/parse-url.ts';
import type { CallTargets } from '../tool.ts';

/** Returns true if the list contains the URL's host. */
export type AllowedHosts = (url: URL) => boolean;

interface HostEntry {
  host: string;
  /** The allowed port. Undefined allows every port. */
  port: string | undefined;
}

/** @param entries each in the form of `parseHost`; an entry in another form allows nothing */
export function allowedHosts(entries: readonly string[]): AllowedHosts {
  const known = entries.flatMap((entry) => parseHost(entry) ?? []);
  return (url) =>
    known.some(({ host, port }) => host === hostOf(url) && (port === undefined || port === portOf(url)));
}

/**
 * Parses `host` or `host:port`, with an IPv6 address in brackets. The URL parser normalizes the host, so it compares
 * equal to hosts of URLs.
 * @returns undefined for any other form
 */
export function parseHost(entry: string): HostEntry | undefined {
  const [, name, port] = /^(\[[0-9A-Fa-f:.]+\]|[^\s[\]:/?#@\\]+)(?::(\d{1,5}))?$/u.exec(entry) ?? [];
  if (name === undefined || Number(port ?? 0) > 65_535) return undefined;
  const url = parseUrl(`http://${name}/`);
  return url && { host: hostOf(url), port: port === undefined ? undefined : String(Number(port)) };
}

/** Returns the host without port: in lower case, addresses in the usual notation, without a final dot. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.$/u, '');
}

function portOf({ port, protocol }: URL): string {
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port;
}

/**
 * Returns the host of a URL as a target for policy rules. The WHATWG parser has already normalised the name, but the
 * name can end with a dot.
 */
export function hostTarget(url: string): CallTargets {
  const host = parseUrl(url)?.hostname.replace(/^\[|\]$|\.$/gu, '');
  return host === undefined ? {} : { hosts: [host] };
}
