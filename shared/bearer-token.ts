/** Bearer tokens (RFC 6750), compared so that the time taken says nothing of what they are (X1). */
import { createHash, timingSafeEqual } from 'node:crypto';

/** The token of an `Authorization` header; undefined when there is none, or it is of another kind. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? '')?.[1];
}

/** What tokens are compared by: of one length, whatever it is of. */
export function tokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** In constant time, for two digests. */
export function sameToken(one: Buffer, other: Buffer): boolean {
  return timingSafeEqual(one, other);
}
