/**
 * Returns true if the host always means this machine, so that no DNS server can redirect it.
 * @param host with or without the brackets of an IPv6 address
 */
export function isLoopback(host: string): boolean {
  const name = host.replaceAll(/^\[|\]$/g, '');
  return ['localhost', '::1', '0:0:0:0:0:0:0:1'].includes(name) || /^127(?:\.\d{1,3}){3}$/.test(name);
}
