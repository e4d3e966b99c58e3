/**
 * Whom a request was meant for, and which page sent it. A page on the web can point a name of its own at 127.0.0.1 and
 * have a browser send requests here; their Host and Origin give it away (X1).
 */
import { ProductError } from '../../shared/errors.ts';

export interface Reach {
  /** Names and addresses this server answers to, beside loopback; without port. */
  publicHosts: readonly string[];
  /** Origins of pages that may call, e.g. `https://console.example.com`. */
  origins: readonly string[];
}

/** @throws ProductError FORBIDDEN */
export function checkReach(host: string | undefined, origin: string | undefined, reach: Reach): void {
  const name = hostName(host);
  if (name === undefined || !(isLoopback(name) || reach.publicHosts.includes(name)))
    throw new ProductError(
      'FORBIDDEN',
      `This server does not answer to the host ${JSON.stringify(host ?? '')}. Use a loopback address, or add the name with --public-host.`,
    );
  if (origin !== undefined && !isOwnOrigin(origin, host) && !reach.origins.includes(origin))
    throw new ProductError(
      'FORBIDDEN',
      `Pages of ${JSON.stringify(origin.slice(0, 200))} may not call this server. Add the origin with --allow-origin.`,
    );
}

/** Whether a page of this origin was loaded from the address that it calls. `checkReach` has checked that address. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const [, authority] = /^https?:\/\/([^/\s]+)$/i.exec(origin) ?? [];
  return authority !== undefined && authority.toLowerCase() === host?.toLowerCase();
}

/** The name in a Host header, lower case, without port and brackets. @returns undefined when it is not one. */
function hostName(host: string | undefined): string | undefined {
  // RFC 9110 §7.2, RFC 3986 §3.2.2: IP-literal / IPv4address / reg-name, then an optional port.
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host ?? '');
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** Loopback by name or by address: these cannot be made to point elsewhere by a stranger's DNS. */
export function isLoopback(name: string): boolean {
  return (
    name === 'localhost' ||
    name === '::1' ||
    name === '0:0:0:0:0:0:0:1' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name)
  );
}
