import { BlockList } from 'node:net';

const OWN_ADDRESSES = new BlockList();
OWN_ADDRESSES.addSubnet('127.0.0.0', 8, 'ipv4');
OWN_ADDRESSES.addAddress('::1', 'ipv6');
// A connection to the unspecified address reaches this machine on Linux and macOS.
OWN_ADDRESSES.addAddress('0.0.0.0', 'ipv4');
OWN_ADDRESSES.addAddress('::', 'ipv6');

/**
 * Returns true if a connection to the URL's host reaches this machine, in each spelling of its addresses. Makes no DNS
 * request. So it returns false for a DNS name of this machine, except for `localhost` and the names below it.
 */
export function isOnThisMachine(url: string): boolean {
  const host = new URL(url).hostname.replaceAll(/^\[|\]$/g, '');
  // RFC 6761 §6.3: names below localhost are this machine.
  return (
    /(?:^|\.)localhost\.?$/.test(host) || OWN_ADDRESSES.check(host, host.includes(':') ? 'ipv6' : 'ipv4')
  );
}
