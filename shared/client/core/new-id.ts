/**
 * Returns a unique id of 128 random bits. Browsers offer `crypto.randomUUID` only to pages loaded over TLS or from
 * loopback, so this function does not use it.
 */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
