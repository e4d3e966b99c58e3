/**
 * An attempt to sign in with the OpenID Connect provider binds the provider's answer to the browser that began it.
 *
 * - The cookie contains an end time and a random number. From the cookie, the server computes `state`, `nonce`,
 *   `verifier` and `pageSecret`, each as an HMAC with the server's secret. So the server stores no attempts, and
 *   servers with the same secret accept each other's attempts. A changed cookie gives other values, so the server
 *   refuses the provider's answer.
 * - The provider gets `state` and `nonce` with the request to sign in, and returns them. The server sends `verifier` to
 *   the provider only with the code, in exchange for the tokens.
 * - The page stores `pageSecret` for its origin, and sends it back with the answer. Browsers share cookies between the
 *   ports of a host, so another page could set the cookie. It cannot set the stored value.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { isSameDigest, tokenDigest } from '../../shared/net/bearer-token.ts';

export const SIGN_IN_ATTEMPT_MS = 10 * 60_000;

export interface ProviderSignInAttempt {
  cookie: string;
  /** The end of the attempt, in milliseconds since 1970. */
  expiresAt: number;
  state: string;
  nonce: string;
  /** The code verifier of PKCE (RFC 7636 §4.1): 43 characters. */
  verifier: string;
  pageSecret: string;
}

/** @param now milliseconds since 1970 */
export function createSignInAttempt(secret: string, now: number): ProviderSignInAttempt {
  const expiresAt = now + SIGN_IN_ATTEMPT_MS;
  return deriveAttempt(secret, `${String(expiresAt)}.${randomBytes(32).toString('base64url')}`, expiresAt);
}

/**
 * Returns the attempt of a browser. Undefined if it has ended, or if the cookie or `pageSecret` is missing or wrong.
 * @param now milliseconds since 1970
 */
export function findSignInAttempt(
  secret: string,
  { cookie, pageSecret }: { cookie: string | undefined; pageSecret: string },
  now: number,
): ProviderSignInAttempt | undefined {
  const [, end] = /^(\d{1,15})\.[\w-]{43}$/.exec(cookie ?? '') ?? [];
  const expiresAt = Number(end ?? 0);
  if (cookie === undefined || expiresAt <= now) return undefined;
  const attempt = deriveAttempt(secret, cookie, expiresAt);
  return isSameDigest(tokenDigest(attempt.pageSecret), tokenDigest(pageSecret)) ? attempt : undefined;
}

function deriveAttempt(secret: string, cookie: string, expiresAt: number): ProviderSignInAttempt {
  const derived = (purpose: string): string =>
    createHmac('sha256', secret)
      .update(JSON.stringify(['mcp-a2a-bridge provider sign-in 1', purpose, cookie]))
      .digest('base64url');
  return {
    cookie,
    expiresAt,
    state: derived('state'),
    nonce: derived('nonce'),
    verifier: derived('verifier'),
    pageSecret: derived('page'),
  };
}
