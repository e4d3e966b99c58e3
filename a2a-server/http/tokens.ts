/** Bearer tokens and the principals they stand for (X1: compared in constant time, never logged). */
import { bearerToken, sameToken, tokenDigest } from '../../shared/bearer-token.ts';
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
  const known = credentials.map(({ principal, token }) => ({ principal, digest: tokenDigest(token) }));
  return (authorization) => {
    const token = bearerToken(authorization);
    if (token === undefined)
      throw new ProductError(
        'UNAUTHENTICATED',
        'This server asks for a bearer token: send "Authorization: Bearer <token>". The local one is in the file "token" of the state directory.',
      );
    const digest = tokenDigest(token);
    let principal: string | undefined;
    // Every one is compared, whichever matches: neither the length nor the place of a token shows in the time taken.
    for (const it of known) if (sameToken(it.digest, digest)) principal = it.principal;
    if (principal === undefined)
      throw new ProductError(
        'UNAUTHENTICATED',
        'The bearer token is not one this server knows. The local one is in the file "token" of the state directory.',
      );
    return principal;
  };
}
