/** From a URL to the addresses a connection may go to. Whatever a name resolves to is judged, then connected to (X2). */
import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import { notPublic } from './address.ts';
import { hostOf, type AllowedHosts } from './allowed-hosts.ts';
import type { Resolve } from './resolve.ts';
import { addressIn, unreachable } from './web-url.ts';

/**
 * Asked anew for every connection; what was found is what is connected to (see `pinned`). So a name that changes its
 * addresses in between (DNS rebinding) gains nothing, and one bad address among good ones spoils all.
 * @throws ProductError FORBIDDEN; what resolving throws.
 */
export async function addressesOf(
  url: URL,
  { allowed, resolve }: { allowed: AllowedHosts; resolve: Resolve },
): Promise<readonly string[]> {
  const literal = addressIn(hostOf(url));
  const addresses = literal === undefined ? await resolve(url.hostname) : [literal];
  if (addresses.length === 0) throw new Error(`${url.hostname} has no address.`);
  if (allowed(url)) return addresses;
  for (const address of addresses) {
    const reason = notPublic(address);
    if (reason !== undefined)
      throw unreachable(url, literal === undefined ? `at ${address}, which is ${reason}` : reason);
  }
  return addresses;
}

/** For `net.connect`: a look-up that knows these addresses and asks nobody. A host that is an address is not looked up. */
export function pinned(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, { all }, callback) => {
    const [first] = found;
    if (all || first === undefined) callback(null, found);
    else callback(null, first.address, first.family);
  };
}
