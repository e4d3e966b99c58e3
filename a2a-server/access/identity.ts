import type { IssuedToken } from './issued-token.ts';
import { fullName } from './requester.ts';
import type { Role } from './role.ts';

/** Who sends a request. */
export interface Identity {
  /** The full name. */
  principal: string;
  /** The issued token that gives the access. Absent for the local token and for the tokens of the settings. */
  tokenId?: string;
  /** The rights that a token of an OpenID Connect provider gives. Absent for every other token. */
  roles?: readonly Role[];
  /** The end of the access in milliseconds since 1970. Absent if it has none. */
  expiresAt?: number;
}

/** Returns the identity behind an issued token. */
export function identityOfToken({ id, principal, tenant }: IssuedToken): Identity & { tokenId: string } {
  return { principal: fullName(principal, tenant), tokenId: id };
}
