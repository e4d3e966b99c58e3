/**
 * Returns a unique id of 128 random bits. It does not use `crypto.randomUUID`, because browsers offer that only to
 * pages loaded over TLS or from loopback.
 */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
