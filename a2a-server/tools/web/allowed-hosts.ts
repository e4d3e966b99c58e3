/**
 * Checks hosts against the operator's list. The operator can allow hosts for `fetch` and `crawl`, e.g. `127.0.0.1:8080`
 * or `wiki.intern`. An allowed host may be private.
 */
import { parseUrl } from '../../../shared/net/parse-url.ts';
import type { CallTargets } from '../tool.ts';

export type IsPrivateHostAllowed = (url: URL) => boolean;

interface HostEntry {
  host: string;
  /** The allowed port. Undefined means every port. */
  port: string | undefined;
}

/** @param entries texts that `parseHost` accepts; other entries allow nothing */
export function createHostAllowList(entries: readonly string[]): IsPrivateHostAllowed {
  const known = entries.flatMap((entry) => parseHost(entry) ?? []);
  return (url) =>
    known.some(
      ({ host, port }) => host === hostnameOfUrl(url) && (port === undefined || port === portOf(url)),
    );
}

/**
 * Parses `host` or `host:port`, with an IPv6 address in brackets. The URL parser normalizes the host, so the result can
 * be compared with hosts of URLs. Returns undefined for any other text.
 */
export function parseHost(entry: string): HostEntry | undefined {
  const [, name, port] = /^(\[[0-9A-Fa-f:.]+\]|[^\s[\]:/?#@\\]+)(?::(\d{1,5}))?$/u.exec(entry) ?? [];
  if (name === undefined || Number(port ?? 0) > 65_535) return undefined;
  const url = parseUrl(`http://${name}/`);
  return url && { host: hostnameOfUrl(url), port: port === undefined ? undefined : String(Number(port)) };
}

/** Returns the host without port, in lower case and without a final dot. The URL parser has normalized addresses. */
export function hostnameOfUrl({ hostname }: URL): string {
  return hostname.replace(/\.$/u, '');
}

function portOf({ port, protocol }: URL): string {
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port;
}

/**
 * Returns the host of a URL, so that policy rules can check it. The URL parser has normalized the name, but the name
 * can end with a dot.
 */
export function callTargetsOfUrl(url: string): CallTargets {
  const host = parseUrl(url)?.hostname.replace(/^\[|\]$|\.$/gu, '');
  return host === undefined ? {} : { hosts: [host] };
}
