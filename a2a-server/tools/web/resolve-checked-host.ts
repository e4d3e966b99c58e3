import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import { whyNotPublic } from './public-address.ts';
import { hostnameOfUrl, type IsPrivateHostAllowed } from './allowed-hosts.ts';
import { ipAddressIn, refusedUrlError } from './web-url.ts';
import { lookup } from 'node:dns/promises';

/**
 * X2: resolves the host of a URL and checks each address. If one address is private, refuses the host. The connection
 * uses only these addresses (see `pinnedLookup`). So a later change of the DNS records (DNS rebinding) has no effect.
 * @throws ProductError FORBIDDEN if an address is not public
 * @throws the errors of `resolve`
 */
export async function resolveCheckedAddresses(
  url: URL,
  { allowed, resolve }: { allowed: IsPrivateHostAllowed; resolve: ResolveHost },
): Promise<readonly string[]> {
  const literal = ipAddressIn(hostnameOfUrl(url));
  const addresses = literal === undefined ? await resolve(url.hostname) : [literal];
  if (addresses.length === 0) throw new Error(`${url.hostname} has no address.`);
  if (allowed(url)) return addresses;
  for (const address of addresses) {
    const reason = whyNotPublic(address);
    if (reason !== undefined)
      throw refusedUrlError(url, literal === undefined ? `at ${address}, which is ${reason}` : reason);
  }
  return addresses;
}

/**
 * Returns a lookup function for `net.connect`. It returns these addresses without a DNS request. Node does not call it
 * if the host is an IP address.
 */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, { all }, callback) => {
    const [first] = found;
    if (all || first === undefined) callback(null, found);
    else callback(null, first.address, first.family);
  };
}

/** Returns all addresses of a name. @throws the errors of `node:dns` */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export const resolveHostBySystem: ResolveHost = async (host) =>
  (await lookup(host, { all: true, order: 'verbatim' })).map(({ address }) => address);
