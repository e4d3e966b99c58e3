/**
 * Returns true if the host is always this machine. No DNS server can change this.
 * @param host with or without the brackets of an IPv6 address
 */
export function isLoopback(host: string): boolean {
  const name = host.replaceAll(/^\[|\]$/g, '');
  return ['localhost', '::1', '0:0:0:0:0:0:0:1'].includes(name) || /^127(?:\.\d{1,3}){3}$/.test(name);
}
