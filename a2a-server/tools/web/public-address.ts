import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** The range of all global unicast IPv6 addresses assigned so far (RFC 4291 §2.4, IANA). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** The metadata service of Azure. Its address looks public. */
const AZURE_METADATA_ADDRESS = '168.63.129.16';

const WORDS: Readonly<Record<string, string>> = {
  loopback: 'this machine (loopback)',
  private: 'in a private network',
  uniqueLocal: 'in a private network',
  linkLocal: 'link-local, where metadata services are',
  carrierGradeNat: "in a carrier's private network (CGNAT)",
  unspecified: 'unspecified, which means this machine',
  multicast: 'multicast',
  broadcast: 'broadcast',
  ipv4Mapped: 'an IPv4 address inside an IPv6 address',
  rfc6145: 'an IPv4 address inside an IPv6 address',
  rfc6052: 'an IPv4 address inside an IPv6 address',
  '6to4': 'an IPv4 address inside an IPv6 address',
  teredo: 'an IPv4 address inside an IPv6 address',
};

/**
 * X2: returns the reason why the server must not connect to `address`, as the end of a sentence with "is". Returns
 * undefined for a public address.
 *
 * The function refuses all special ranges, which include cloud metadata services (169.254.169.254, fd00:ec2::254,
 * 100.100.100.200 …). It refuses IPv6 addresses that stand for an IPv4 address (mapped, translated, tunnelled). It
 * refuses this machine's own addresses.
 */
export function whyNotPublic(address: string): string | undefined {
  if (isIP(address) === 0) return 'no IP address';
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range !== 'unicast') return WORDS[range] ?? `special (${range})`;
  if (parsed.kind() === 'ipv6' && !parsed.match(GLOBAL_UNICAST)) return 'outside the public range of IPv6';
  if (parsed.toString() === AZURE_METADATA_ADDRESS) return "a cloud's metadata service";
  if (ownAddresses().has(parsed.toString())) return 'an address of this machine';
  return undefined;
}

/** Returns this machine's own addresses. They are read each time, because a network interface can start at any time. */
function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(
    all.flatMap(({ address }) => (ipaddr.isValid(address) ? [ipaddr.parse(address).toString()] : [])),
  );
}
