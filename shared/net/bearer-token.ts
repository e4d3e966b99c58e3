import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Returns the bearer token of an `Authorization` header (RFC 6750). Returns undefined if the header is missing or has
 * another scheme.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? '')?.[1];
}

/** Returns a hash of the token. All hashes have the same length, which `sameToken` needs. */
export function tokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Compares two digests in constant time (X1). */
export function sameToken(one: Buffer, other: Buffer): boolean {
  return timingSafeEqual(one, other);
}
