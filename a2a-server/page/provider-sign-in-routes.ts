/**
 * Serves the sign-in to the approval page with the OpenID Connect provider. A browser has no token, so the app mounts
 * these routes before the check of the bearer token. The provider sends the browser back to the page itself, which
 * sends the answer to the server.
 *
 * - `GET /page/provider` returns the name of the provider, or null.
 * - `POST /page/provider/start` begins an attempt: a cookie, and in the response the provider's address and the page's
 *   secret.
 * - `POST /page/provider/finish` exchanges the provider's answer for a session, as `POST /page/session` does.
 */
import { Router } from 'express';
import { z } from 'zod';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { jsonBody } from '../http/routes/json-body.ts';
import { validateRequestInput } from '../http/wire/validate-request-input.ts';
import { signInAttemptCookieAttributes, requireOwnPage, readCookie } from './page-request-secrets.ts';
import { type PageSignInContext, sendPageSession } from './page-sign-in.ts';
import { createSignInAttempt, findSignInAttempt } from './provider-sign-in-attempt.ts';
import { signInError } from './sign-in-failure.ts';
import type { ProviderSignIn } from './provider-sign-in.ts';

/** The maximum length of the query of a redirect, in characters. The authorization codes of some providers are long. */
const MAX_QUERY_CHARS = 12_000;

const body = jsonBody(['application/json'], { bytes: 16_384, depth: 4 });
const startRequest = z.strictObject({ silent: z.boolean().default(false) }).prefault({});
const finishRequest = z.strictObject({
  pageSecret: z.string().min(1).max(100),
  query: z.string().max(MAX_QUERY_CHARS),
});

export interface ProviderSignInContext {
  signIn: ProviderSignIn;
  /** The secret of this server, and of the servers that share its records. */
  secret: string;
  clock: Pick<Clock, 'now'>;
}

/** @param provider absent if the page offers no sign-in with a provider */
export function providerSignInRoutes(
  { sessions, cookie, base }: PageSignInContext,
  provider?: ProviderSignInContext,
): Router {
  const router = Router();
  router.get('/page/provider', (_request, response) => {
    response.json({ name: provider?.signIn.name ?? null });
  });
  if (provider === undefined) return router;
  const { signIn, secret, clock } = provider;
  const { origin: publicOrigin } = new URL(base);
  const attempts = signInAttemptCookieAttributes(cookie);

  router.post('/page/provider/start', ...body, async (request, response) => {
    requireOwnPage(request, base);
    // A sign-in must begin at the public address, because the provider sends the browser back to it. A cookie of
    // another address would be missing there.
    if (request.header('Origin') !== publicOrigin)
      throw new ProductError(
        'FORBIDDEN',
        `The sign-in with ${signIn.name} works only at ${signIn.redirectUri}. Open that address.`,
      );
    const { silent } = validateRequestInput(
      startRequest,
      request.body,
      'The body must be {} or {"silent": true}',
    );
    const attempt = createSignInAttempt(secret, clock.now());
    const address = await signIn.address(attempt, silent);
    response.cookie(attempts.name, attempt.cookie, {
      ...attempts.options,
      expires: new Date(attempt.expiresAt),
    });
    response.json({ address, pageSecret: attempt.pageSecret });
  });
  router.post('/page/provider/finish', ...body, async (request, response) => {
    requireOwnPage(request, base);
    const { pageSecret, query } = validateRequestInput(
      finishRequest,
      request.body,
      'The body must be {"pageSecret", "query"}',
    );
    const browser = { cookie: readCookie(request, attempts), pageSecret };
    // An attempt accepts only one answer, even if the sign-in fails.
    response.clearCookie(attempts.name, attempts.options);
    const attempt = findSignInAttempt(secret, browser, clock.now());
    if (attempt === undefined) throw signInError({ type: 'no-attempt' }, signIn.name);
    const identity = await signIn.identity(attempt, query);
    sendPageSession(response, await sessions.begin(identity), cookie);
  });
  return router;
}
