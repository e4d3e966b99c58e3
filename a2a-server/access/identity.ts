import type { IssuedToken } from './issued-token.ts';
import { fullName } from './requester.ts';

/** Who sends a request. */
export interface Identity {
  /** The full name. */
  principal: string;
  /** The issued token that gives the access. Absent for the local token and for the tokens of the settings. */
  tokenId?: string;
}

/** Returns whom an issued token stands for. */
export function identityOfToken({ id, principal, tenant }: IssuedToken): Required<Identity> {
  return { principal: fullName(principal, tenant), tokenId: id };
}
