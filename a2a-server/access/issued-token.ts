/**
 * Makes and parses issued tokens. `a2a-server token create` makes such a token: `a2a_<id>_<secret>`. The id is public.
 * The secret is random (256 bits), so storing its plain SHA-256 is enough: an attacker cannot try all secrets.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { isSameDigest, tokenDigest } from '../../shared/net/bearer-token.ts';
import { IDENTITY_NAME_PATTERN } from './requester.ts';
import { roleSchema } from './role.ts';

/** The stored part of a token. It contains no secret. */
export const issuedTokenSchema = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{12}$/),
  /** The name of the token's user within the tenant. */
  principal: z.string().regex(IDENTITY_NAME_PATTERN),
  /** The tenant of the user. Absent if the user has none. */
  tenant: z.string().regex(IDENTITY_NAME_PATTERN).optional(),
  roles: z.array(roleSchema).min(1),
  /** The groups of the user. Absent if the user is in no group. */
  groups: z.array(z.string().regex(IDENTITY_NAME_PATTERN)).min(1).optional(),
  /** SHA-256 (hex) of the secret. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  /** The time of the creation. All times of a token are RFC 3339. */
  createdAt: z.iso.datetime(),
  /** The end of the token's validity. Null if the token does not expire. */
  expiresAt: z.iso.datetime().nullable(),
  /** The time of the revocation. Null until the token is revoked. */
  revokedAt: z.iso.datetime().nullable(),
});
export type IssuedTokenRecord = z.infer<typeof issuedTokenSchema>;

/**
 * Makes a token. Only the returned text contains the secret. If `lifetimeMs` is null, the token does not expire.
 * @param now milliseconds since 1970
 */
export function makeToken(
  {
    principal,
    tenant,
    roles,
    groups,
    lifetimeMs,
  }: Pick<IssuedTokenRecord, 'principal' | 'tenant' | 'roles' | 'groups'> & { lifetimeMs: number | null },
  now: number,
): { text: string; token: IssuedTokenRecord } {
  const id = randomBytes(6).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  const token: IssuedTokenRecord = {
    id,
    principal,
    ...(tenant !== undefined && { tenant }),
    roles,
    ...(groups !== undefined && groups.length > 0 && { groups }),
    digest: tokenDigest(secret).toString('hex'),
    createdAt: new Date(now).toISOString(),
    expiresAt: lifetimeMs === null ? null : new Date(now + lifetimeMs).toISOString(),
    revokedAt: null,
  };
  return { text: `a2a_${id}_${secret}`, token };
}

/** Splits a token into its id and its secret. Returns undefined if the text does not have the form of a token. */
export function parseToken(text: string): { id: string; secret: string } | undefined {
  const [, id, secret] = /^a2a_([0-9a-f]{12})_([\w-]{43})$/.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Compares the secret in constant time. X1: the duration must reveal nothing about a secret. */
export function isSecretOfToken({ digest }: IssuedTokenRecord, secret: string): boolean {
  return isSameDigest(Buffer.from(digest, 'hex'), tokenDigest(secret));
}

/** The state of a token. Only an active token gives access. */
type IssuedTokenState = 'active' | 'expired' | 'revoked';

/** Returns the end of a token in milliseconds since 1970. Undefined if it has no end. */
export function expiryOfToken({ expiresAt }: Pick<IssuedTokenRecord, 'expiresAt'>): number | undefined {
  return expiresAt === null ? undefined : Date.parse(expiresAt);
}

/** Returns the state of a token at the time `now`. @param now milliseconds since 1970 */
export function issuedTokenState(token: IssuedTokenRecord, now: number): IssuedTokenState {
  if (token.revokedAt !== null) return 'revoked';
  return (expiryOfToken(token) ?? Infinity) <= now ? 'expired' : 'active';
}
