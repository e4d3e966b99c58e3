import type { IssuedTokenRecord } from './issued-token.ts';
import { fullPrincipalName } from './requester.ts';
import { type Role, ROLES } from './role.ts';

/** The authenticated sender of a request. */
export interface Identity {
  /** The full name of the principal: `name`, or `tenant/name`. */
  principal: string;
  /** The id of the issued token that gives the access. Absent for every other token. */
  tokenId?: string;
  /** The roles from a token of an OpenID Connect provider. Absent for every other token. */
  roles?: readonly Role[];
  /** The groups from a token of an OpenID Connect provider. Absent for every other token. */
  groups?: readonly string[];
  /** The time when the access ends, in milliseconds since 1970. Absent if the access does not end. */
  expiresAt?: number;
}

/** Returns the identity behind an issued token. */
export function identityOfTokenRecord({
  id,
  principal,
  tenant,
}: IssuedTokenRecord): Identity & { tokenId: string } {
  return { principal: fullPrincipalName(principal, tenant), tokenId: id };
}

/** Returns the roles of an identity. The local token and the tokens from the settings have all roles. */
export function rolesOf(
  { tokenId, roles }: Identity,
  issued: Pick<IssuedTokenRecord, 'roles'> | undefined,
): readonly Role[] {
  return tokenId === undefined ? (roles ?? ROLES) : (issued?.roles ?? []);
}
