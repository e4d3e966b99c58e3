import { bearerToken, isSameDigest, tokenDigest } from '../../../shared/net/bearer-token.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { type Identity, identityOfTokenRecord } from '../../access/identity.ts';
import { looksLikeJwt, type AuthenticateJwt } from '../../access/oidc-tokens.ts';
import type { IssuedTokenReader } from '../../access/issued-token-reader.ts';

export interface Credential {
  principal: string;
  token: string;
}

/**
 * Returns the identity behind an `Authorization` header.
 * @throws ProductError UNAUTHENTICATED if the token is missing, malformed, unknown, expired or revoked; STORAGE if an
 *   issued token cannot be read
 */
export type Authenticate = (authorization: string | undefined) => Promise<Identity>;

/** Authenticates bearer tokens. X1: tokens are compared in constant time, never logged, and not revealed by errors. */
export function createAuthenticator(
  credentials: readonly Credential[],
  issued?: Pick<IssuedTokenReader, 'find'>,
  verifyJwt?: AuthenticateJwt,
): Authenticate {
  const known = credentials.map(({ principal, token }) => ({ principal, digest: tokenDigest(token) }));
  return async (authorization) => {
    const token = bearerToken(authorization);
    if (token === undefined)
      throw new ProductError(
        'UNAUTHENTICATED',
        'This server needs a bearer token: send "Authorization: Bearer <token>". The local token is in the file "token" of the state directory.',
      );
    const digest = tokenDigest(token);
    let principal: string | undefined;
    // The loop compares with every token, so that its time does not reveal which token matches.
    for (const it of known) if (isSameDigest(it.digest, digest)) principal = it.principal;
    if (principal !== undefined) return { principal };
    return verifyJwt && looksLikeJwt(token) ? verifyJwt(token) : issuedIdentity(token, issued);
  };
}

async function issuedIdentity(token: string, issued?: Pick<IssuedTokenReader, 'find'>): Promise<Identity> {
  const found = await issued?.find(token);
  if (found !== undefined) return identityOfTokenRecord(found);
  throw new ProductError(
    'UNAUTHENTICATED',
    'This server does not know the bearer token, or the token has expired or was revoked. The local token is in the file "token" of the state directory.',
  );
}
