import { isLoopback } from '../../../shared/net/loopback.ts';
import { isOwnOrigin } from '../../../shared/net/is-own-origin.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';

export interface AllowedHostsAndOrigins {
  /** The allowed host names and addresses besides loopback, without a port. */
  publicHosts: readonly string[];
  origins: readonly string[];
}

/**
 * X1: checks the Host and Origin headers of every request. A hostile web page can point its own host name at 127.0.0.1.
 * Then the page can make a browser send requests to this server (DNS rebinding). The Host header of such a request
 * contains the page's host name. The Origin header shows a request from a page of another origin.
 * @throws ProductError FORBIDDEN
 */
export function checkHostAndOrigin(
  host: string | undefined,
  origin: string | undefined,
  allowed: AllowedHostsAndOrigins,
): void {
  const name = hostName(host);
  if (name === undefined || !(isLoopback(name) || allowed.publicHosts.includes(name)))
    throw new ProductError(
      'FORBIDDEN',
      `This server does not answer to the host ${JSON.stringify(host ?? '')}. Use a loopback address, or add the name with --public-host.`,
    );
  if (origin !== undefined && !isOwnOrigin(origin, host) && !allowed.origins.includes(origin))
    throw new ProductError(
      'FORBIDDEN',
      `Pages of ${JSON.stringify(origin.slice(0, 200))} may not call this server. Add the origin with --allow-origin.`,
    );
}

function hostName(host: string | undefined): string | undefined {
  // A Host header has an IP-literal, an IPv4 address or a reg-name, then an optional port (RFC 9110 §7.2, RFC 3986
  // §3.2.2).
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host ?? '');
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}
