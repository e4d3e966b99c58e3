/** Authenticates bearer tokens (X1: compared in constant time, never logged). */
import { bearerToken, sameToken, tokenDigest } from '../../../shared/net/bearer-token.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';

export interface Credential {
  principal: string;
  token: string;
}

/** Returns the principal of an `Authorization` header. */
export type Authenticate = (authorization: string | undefined) => string;

/**
 * @returns a function that returns the principal of an `Authorization` header.
 * The function throws ProductError UNAUTHENTICATED for a missing, malformed or unknown token. It does not reveal known tokens.
 */
export function authenticator(credentials: readonly Credential[]): Authenticate {
  const known = credentials.map(({ principal, token }) => ({ principal, digest: tokenDigest(token) }));
  return (authorization) => {
    const token = bearerToken(authorization);
    if (token === undefined)
      throw new ProductError(
        'UNAUTHENTICATED',
        'This server needs a bearer token: send "Authorization: Bearer <token>". The local token is in the file "token" of the state directory.',
      );
    const digest = tokenDigest(token);
    let principal: string | undefined;
    // Compares with every token, so that the time does not depend on the match.
    for (const it of known) if (sameToken(it.digest, digest)) principal = it.principal;
    if (principal === undefined)
      throw new ProductError(
        'UNAUTHENTICATED',
        'This server does not know the bearer token. The local token is in the file "token" of the state directory.',
      );
    return principal;
  };
}
