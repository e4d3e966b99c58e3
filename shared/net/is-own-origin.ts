/**
 * Returns true if the origin of a web page has the same host and port as the request (RFC 6454 §7, RFC 9110 §7.2). The
 * caller checks that the host is allowed.
 */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const [, authority] = /^https?:\/\/([^/\s]+)$/i.exec(origin) ?? [];
  return authority !== undefined && authority.toLowerCase() === host?.toLowerCase();
}
