import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Returns the bearer token of an `Authorization` header (RFC 6750). Returns undefined if the header is missing or has
 * another scheme.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? '')?.[1];
}

/** Returns the SHA-256 of a token. `isSameDigest` needs inputs of equal length, and all hashes have the same length. */
export function tokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * Compares two token digests. X1: the comparison takes constant time, so its duration reveals nothing about the token.
 */
export function isSameDigest(one: Buffer, other: Buffer): boolean {
  return timingSafeEqual(one, other);
}
