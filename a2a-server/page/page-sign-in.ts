/**
 * Serves the sign-in to the approval page over HTTP.
 *
 * - `POST /page/links` (bearer token) creates a one-time link for the token's principal.
 * - `POST /page/session` exchanges the link's code for a session: a cookie, and the page key in the response.
 * - `POST /page/sign-out` ends the session. With `{"everywhere": true}`, it ends all sessions and links of the
 *   principal.
 */
import { Router } from 'express';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { pageAddress, type PageTarget } from '../../shared/net/page-address.ts';
import type { TaskService } from '../executor/task-service.ts';
import type { Identity } from '../access/identity.ts';
import { callerOf } from '../http/auth/caller.ts';
import { jsonBody } from '../http/routes/json-body.ts';
import { validateRequestInput } from '../http/wire/validate-request-input.ts';
import { requireOwnPage, readPageSessionSecrets } from './page-request-secrets.ts';
import type { PageCookieAttributes } from './page-request-secrets.ts';
import type { PageSession, PageSessions, PageSessionSecrets } from './page-sessions.ts';

const BODY_LIMITS = { bytes: 4_096, depth: 4 };
const body = jsonBody(['application/json'], BODY_LIMITS);

const id = z.string().min(1).max(200);
const linkRequest = z
  .strictObject({ taskId: id.optional(), callId: id.optional(), shown: id.optional() })
  .refine(({ taskId, callId }) => callId === undefined || taskId !== undefined, 'callId needs taskId')
  .refine(({ callId, shown }) => shown === undefined || callId !== undefined, 'shown needs callId')
  .default({});
const sessionRequest = z.strictObject({ code: z.string().max(200) });
const signOutRequest = z.strictObject({ everywhere: z.boolean().default(false) }).prefault({});

/** What the sign-in routes need. */
export interface PageSignInContext {
  sessions: PageSessions;
  cookie: PageCookieAttributes;
  /** The URL of the server for the browser. */
  base: string;
}

/** Creates links. The app mounts this route after the check of the bearer token. */
export function oneTimeLinkRoute(
  tasks: Pick<TaskService, 'row'>,
  { sessions, base }: PageSignInContext,
): Router {
  const router = Router();
  router.post('/page/links', ...body, async (request, response) => {
    const { identity, requester } = callerOf(request);
    const target = validateRequestInput(
      linkRequest,
      request.body,
      'The body must be {}, {"taskId"} or {"taskId", "callId", "shown"}',
    );
    // `row` throws the same error for a task out of the caller's reach and for an unknown task. So a caller learns
    // nothing about tasks of others.
    if (target.taskId !== undefined) await tasks.row(target.taskId, requester);
    response.json(await createOneTimeLink(sessions, identity, { base, target }));
  });
  return router;
}

/** Makes a link that signs a browser in once and opens the target. @param base the server's URL for the browser */
export async function createOneTimeLink(
  sessions: Pick<PageSessions, 'makeLink'>,
  identity: Identity,
  { base, target }: { base: string; target: PageTarget },
): Promise<{ url: string; expiresAt: string }> {
  const { code, expiresAt } = await sessions.makeLink(identity);
  const url = pageAddress(base, { ...target, code });
  return { url, expiresAt: new Date(expiresAt).toISOString() };
}

/**
 * Signs in and out. The app mounts these routes before the check of the bearer token, because a browser has no token.
 */
export function signInRoutes({ sessions, cookie, base }: PageSignInContext): Router {
  const router = Router();
  router.post('/page/session', ...body, async (request, response) => {
    requireOwnPage(request, base);
    const { code } = validateRequestInput(sessionRequest, request.body, 'The body must be {"code"}');
    sendPageSession(response, await sessions.signIn(code), cookie);
  });
  router.post('/page/sign-out', ...body, async (request, response) => {
    requireOwnPage(request, base);
    const { everywhere } = validateRequestInput(
      signOutRequest,
      request.body,
      'The body must be {} or {"everywhere": true}',
    );
    await sessions.signOut(readPageSessionSecrets(request, cookie), everywhere);
    response.clearCookie(cookie.name, cookie.options);
    response.json({ signedOut: true });
  });
  return router;
}

/** Sends the two secrets of a new session: one as a cookie, and the page key in the body. */
export function sendPageSession(
  response: Response,
  { cookie: value, pageKey, expiresAt }: PageSessionSecrets & { expiresAt: number },
  { name, options }: PageCookieAttributes,
): void {
  const expires = new Date(expiresAt);
  response.cookie(name, value, { ...options, expires });
  response.json({ pageKey, expiresAt: expires.toISOString() });
}

/**
 * Returns the session of a request.
 * @throws ProductError FORBIDDEN if another page sent the request
 * @throws ProductError UNAUTHENTICATED if there is no session
 */
export async function requirePageSession(
  request: Request,
  { sessions, cookie, base }: PageSignInContext,
): Promise<PageSession> {
  requireOwnPage(request, base);
  return sessions.find(readPageSessionSecrets(request, cookie));
}
