/** Reads and compares bearer tokens (RFC 6750). The comparison takes constant time (X1). */
import { createHash, timingSafeEqual } from 'node:crypto';

/** The bearer token of an `Authorization` header; undefined if the header is missing or has another scheme. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? '')?.[1];
}

/** A digest of the token. All digests have the same length, which `sameToken` needs. */
export function tokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Compares two digests in constant time. */
export function sameToken(one: Buffer, other: Buffer): boolean {
  return timingSafeEqual(one, other);
}
