/**
 * Answers the approval page's requests about passkeys. They need the page's session.
 *
 * - `GET /passkeys` lists the person's passkeys, and says at which address passkeys work.
 * - `POST /passkeys/registration` and `POST /passkeys` register a passkey. Both need a code that `a2a-server passkey
 *   add` has issued.
 * - `DELETE /passkeys/:id` removes a passkey.
 * - `POST /passkeys/challenge` returns the challenge of one decision.
 * - `POST /passkeys/page-link` returns a one-time link to the page at the address where passkeys work.
 */
import { Router } from 'express';
import type { Request } from 'express';
import { z } from 'zod';
import { ProductError } from '../../shared/runtime/errors.ts';
import { decisionSchema } from '../../shared/protocol/decision.ts';
import type { TaskService } from '../executor/task-service.ts';
import { callerOf } from '../http/auth/caller.ts';
import { DEFAULT_BODY_LIMITS, jsonBody } from '../http/routes/json-body.ts';
import { validateRequestInput } from '../http/wire/validate-request-input.ts';
import type { PasskeyList } from '../../shared/protocol/registered-passkey.ts';
import type { Passkeys } from '../presence/passkeys.ts';
import type { PresenceService } from '../presence/presence-service.ts';
import { requireSoleLocalhostListener } from '../presence/require-sole-localhost-listener.ts';
import type { RelyingParty } from '../presence/relying-party.ts';
import { createOneTimeLink } from './page-sign-in.ts';
import type { PageSessions } from './page-sessions.ts';

export interface PagePasskeys {
  passkeys: Passkeys;
  presence: PresenceService;
  party: RelyingParty;
  /** The server's URL for clients. */
  base: string;
}

const id = z.string().min(1).max(2000);
const text = z.string().max(100_000);
const code = z.string().min(1).max(200);
const registrationRequest = z.strictObject({ code });
/** `RegistrationResponseJSON` of WebAuthn Level 3. The library checks the contents. */
const registrationResponse = z.object({
  id,
  rawId: id,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}),
  response: z.object({
    clientDataJSON: text,
    attestationObject: text,
    transports: z.array(z.string().max(100)).max(20).default([]),
  }),
});
const newPasskey = z.strictObject({
  code,
  name: z.string().trim().min(1).max(100),
  response: registrationResponse,
});
const challengeRequest = z.strictObject({
  taskId: id,
  decision: decisionSchema.refine((it) => it.presence === undefined, 'it has an assertion already'),
});
const linkRequest = z.strictObject({
  taskId: id.optional(),
  callId: id.optional(),
  shown: id.optional(),
});

interface PasskeyRouteParts extends PagePasskeys {
  tasks: Pick<TaskService, 'presenceStatement' | 'row'>;
  sessions: Pick<PageSessions, 'makeLink'>;
}

export function passkeyRoutes({
  tasks,
  sessions,
  passkeys,
  presence,
  party,
  base,
}: PasskeyRouteParts): Router {
  const router = Router();
  const body = jsonBody(['application/json'], DEFAULT_BODY_LIMITS);

  router.get('/passkeys', async (request, response) => {
    const list = await passkeys.list(callerOf(request).principal);
    const place = party.type === 'usable' ? { origin: party.origin } : { problem: party.problem };
    response.json({ ...place, passkeys: list } satisfies PasskeyList);
  });
  router.post('/passkeys/registration', ...body, async (request, response) => {
    const given = parseBody(registrationRequest, request);
    response.json(await passkeys.registrationOptions(callerOf(request).principal, given.code));
  });
  router.post('/passkeys', ...body, async (request, response) => {
    response.json(await passkeys.register(callerOf(request).principal, parseBody(newPasskey, request)));
  });
  router.delete('/passkeys/:id', async (request, response) => {
    const removed = await passkeys.remove(callerOf(request).principal, request.params.id);
    if (!removed) throw new ProductError('UNKNOWN_ADDRESS', 'You have no such passkey.');
    response.json({ removed: true });
  });
  router.post('/passkeys/challenge', ...body, async (request, response) => {
    const { principal, requester } = callerOf(request);
    const { taskId, decision } = parseBody(challengeRequest, request);
    const statement = await tasks.presenceStatement(taskId, requester, decision);
    response.json(await presence.challenge(principal, statement));
  });
  router.post('/passkeys/page-link', ...body, async (request, response) => {
    const { identity, requester } = callerOf(request);
    const target = parseBody(linkRequest, request);
    if (party.type === 'unusable') throw new ProductError('FORBIDDEN', party.problem);
    await requireSoleLocalhostListener(base);
    if (target.taskId !== undefined) await tasks.row(target.taskId, requester);
    response.json(await createOneTimeLink(sessions, identity, { base: party.base, target }));
  });
  return router;
}

function parseBody<Schema extends z.ZodType>(schema: Schema, { body }: Request): z.output<Schema> {
  return validateRequestInput(schema, body, 'The body is not valid');
}
