import { parseUrl } from './parse-url.ts';

/**
 * Returns true if the host is always this machine. No DNS server can change this.
 * @param host with or without the brackets of an IPv6 address
 */
export function isLoopback(host: string): boolean {
  const name = host.replaceAll(/^\[|\]$/g, '');
  return ['localhost', '::1', '0:0:0:0:0:0:0:1'].includes(name) || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/** Returns true for an https URL, and for any URL on this machine. No other machine can read these requests. */
export function isEncryptedOrLocal(text: string): boolean {
  const url = parseUrl(text);
  return url?.protocol === 'https:' || isLoopback(url?.hostname ?? '');
}
