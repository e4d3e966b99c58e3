/** An id that nobody else has: 128 random bits. `crypto.randomUUID` is missing from pages that did not come over TLS or loopback. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
