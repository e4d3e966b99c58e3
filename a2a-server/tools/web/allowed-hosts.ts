/** Hosts that the operator lets `fetch` and `crawl` reach wherever they lie, e.g. `127.0.0.1:8080` or `wiki.intern`. */
import { parseUrl } from '../../../shared/parse-url.ts';

/** Says whether a URL's host is listed. */
export type AllowedHosts = (url: URL) => boolean;

interface HostEntry {
  host: string;
  /** Undefined for every port. */
  port: string | undefined;
}

/** @param entries each as `parseHost` takes it; others allow nothing. */
export function allowedHosts(entries: readonly string[]): AllowedHosts {
  const known = entries.flatMap((entry) => parseHost(entry) ?? []);
  return (url) =>
    known.some(({ host, port }) => host === hostOf(url) && (port === undefined || port === portOf(url)));
}

/**
 * Reads `host` or `host:port`, an IPv6 address in brackets. The URL parser puts it into the one spelling it gives the hosts
 * of URLs, whatever the notation.
 * @returns undefined when it is neither.
 */
export function parseHost(entry: string): HostEntry | undefined {
  const [, name, port] = /^(\[[0-9A-Fa-f:.]+\]|[^\s[\]:/?#@\\]+)(?::(\d{1,5}))?$/u.exec(entry) ?? [];
  if (name === undefined || Number(port ?? 0) > 65_535) return undefined;
  const url = parseUrl(`http://${name}/`);
  return url && { host: hostOf(url), port: port === undefined ? undefined : String(Number(port)) };
}

/** The URL's host without port: lower case, an address in its usual notation, and without the dot that may end a name. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.$/u, '');
}

function portOf({ port, protocol }: URL): string {
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port;
}
