/** Bearer tokens and the principals they stand for (X1: compared in constant time, never logged). */
import { createHash, timingSafeEqual } from 'node:crypto';
import { ProductError } from '../../shared/errors.ts';

export interface Credential {
  principal: string;
  token: string;
}

/** Finds who a request's `Authorization` header stands for. */
export type Authenticate = (authorization: string | undefined) => string;

/**
 * @returns a function that gives the principal of an `Authorization` header.
 * It throws ProductError UNAUTHENTICATED for a missing, malformed or unknown one, without saying which tokens exist.
 */
export function authenticator(credentials: readonly Credential[]): Authenticate {
  const known = credentials.map(({ principal, token }) => ({ principal, digest: digestOf(token) }));
  return (authorization) => {
    const token = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined)
      throw new ProductError(
        'UNAUTHENTICATED',
        'This server asks for a bearer token: send "Authorization: Bearer <token>". The local one is in the file "token" of the state directory.',
      );
    const digest = digestOf(token);
    let principal: string | undefined;
    // Every one is compared, whichever matches: neither the length nor the place of a token shows in the time taken.
    for (const it of known) if (timingSafeEqual(it.digest, digest)) principal = it.principal;
    if (principal === undefined)
      throw new ProductError(
        'UNAUTHENTICATED',
        'The bearer token is not one this server knows. The local one is in the file "token" of the state directory.',
      );
    return principal;
  };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
