/**
 * Returns true if the browser loaded the page from the address that the page calls (RFC 6454 §7, RFC 9110 §7.2). The
 * caller checks the host.
 */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const [, authority] = /^https?:\/\/([^/\s]+)$/i.exec(origin) ?? [];
  return authority !== undefined && authority.toLowerCase() === host?.toLowerCase();
}
