/** Which addresses of the network are public. All others are refused (X2): fail closed. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** RFC 4291 §2.4, IANA: where all global unicast addresses of IPv6 lie that have been given out so far. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** The one metadata service (Azure) with an address that looks public. */
const METADATA = '168.63.129.16';

const WORDS: Readonly<Record<string, string>> = {
  loopback: 'this machine (loopback)',
  private: 'in a private network',
  uniqueLocal: 'in a private network',
  linkLocal: 'link-local, where metadata services are',
  carrierGradeNat: "in a carrier's private network (CGNAT)",
  unspecified: 'unspecified, which means this machine',
  multicast: 'multicast',
  broadcast: 'broadcast',
  ipv4Mapped: 'an IPv4 address in disguise',
  rfc6145: 'an IPv4 address in disguise',
  rfc6052: 'an IPv4 address in disguise',
  '6to4': 'an IPv4 address in disguise',
  teredo: 'an IPv4 address in disguise',
};

/**
 * Why `address` is not to be connected to, as the end of "… is "; undefined when it is public. Refused are all special
 * ranges, the metadata services of clouds among them (169.254.169.254, fd00:ec2::254, 100.100.100.200 …), IPv6 addresses
 * that stand for one of IPv4 (mapped, translated, tunnelled), and this machine's own.
 */
export function notPublic(address: string): string | undefined {
  if (isIP(address) === 0) return 'no IP address';
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range !== 'unicast') return WORDS[range] ?? `special (${range})`;
  if (parsed.kind() === 'ipv6' && !parsed.match(GLOBAL_UNICAST)) return 'outside the public range of IPv6';
  if (parsed.toString() === METADATA) return "a cloud's metadata service";
  if (ownAddresses().has(parsed.toString())) return 'an address of this machine';
  return undefined;
}

/** Read anew each time: an interface may come up at any moment. */
function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(
    all.flatMap(({ address }) => (ipaddr.isValid(address) ? [ipaddr.parse(address).toString()] : [])),
  );
}
