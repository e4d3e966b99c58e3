/**
 * Computes the WebAuthn relying party of a server. A relying party is a domain, so passkeys work on `localhost` but not
 * on `127.0.0.1` (W3C WebAuthn Level 3 §5.1.3). The origin also has the port. So the server refuses a passkey that a
 * page on another port has used.
 */
import { isIP } from 'node:net';
import { isLoopback } from '../../shared/net/loopback.ts';

export type RelyingParty =
  | {
      type: 'usable';
      rpId: string;
      origin: string;
      /** The server's URL at the relying party's origin, without a final slash. */
      base: string;
    }
  /** Passkeys do not work at the server's address. `problem` says what the operator must change. */
  | { type: 'unusable'; problem: string };

/** Returns the relying party of a server. @param base the server's URL for clients */
export function relyingPartyOf(base: string): RelyingParty {
  const url = new URL(base);
  const name = url.hostname.replaceAll(/^\[|\]$/g, '');
  if (isLoopback(name)) url.hostname = 'localhost';
  else if (isIP(name) !== 0 || url.protocol !== 'https:')
    return {
      type: 'unusable',
      problem: `Passkeys need a domain over https, or localhost. The address of this server is ${url.origin}. Set --public-url to its https address.`,
    };
  return {
    type: 'usable',
    rpId: url.hostname,
    origin: url.origin,
    base: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
  };
}
