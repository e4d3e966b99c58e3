/**
 * Refuses new tasks of a principal whose queue is full, right after the check of its token and before Express does any
 * work. So an overloaded server spends its processor time on the accepted tasks.
 *
 * - This module refuses one kind of request: a JSON-RPC request that starts a new task, from a token that may start
 *   one. The app gets all other requests, and refuses new tasks too. A decision or a cancel must reach its task,
 *   however busy the server is.
 * - The client gets the same status, `Retry-After` and error from here as from the app.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { z } from 'zod';
import { isLimitRefusal } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { rolesOf } from '../../access/identity.ts';
import type { IssuedTokenReader } from '../../access/issued-token-reader.ts';
import type { Role } from '../../access/role.ts';
import type { FairExecutionSlots } from '../../limits/fair-execution-slots.ts';
import type { OpenRequestLimiter } from '../../limits/open-request-limiter.ts';
import { type AllowedHostsAndOrigins, checkHostAndOrigin } from '../auth/host-and-origin-check.ts';
import type { Authenticate } from '../auth/tokens.ts';
import { DEFAULT_BODY_LIMITS } from './json-body.ts';
import { parseA2aVersion } from '../wire/json-rpc-envelope.ts';
import { safeParseJson } from '../wire/json-text.ts';
import { readRequestBody } from '../wire/request-body.ts';
import { type RetryLater, retryLaterOf } from '../wire/wire-errors.ts';
import { rpcError } from './json-rpc-route.ts';
import type { RequestMeasurement } from './request-measurement.ts';

/** The app reads larger bodies itself, so that this module uses little memory. */
const MAX_BODY_BYTES = 64 * 1024;

const A2A_VERSIONS: readonly string[] = ['1.0', '0.3'];

const absent = z.literal('').nullish();
/** A message that starts a task: it names no task and no session. ProtoJSON: a field may also have its proto name. */
const newTask = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]),
  method: z.enum(['SendMessage', 'SendStreamingMessage', 'message/send', 'message/stream']),
  params: z.object({
    tenant: absent,
    message: z.object({
      messageId: z.string().min(1).max(200),
      taskId: absent,
      task_id: absent,
      contextId: absent,
      context_id: absent,
      metadata: z.unknown().optional(),
    }),
    metadata: z.unknown().optional(),
  }),
});
type NewTask = z.infer<typeof newTask>;

export interface LoadSheddingParts {
  slots: Pick<FairExecutionSlots, 'waiting' | 'hasSpace' | 'requireSpace'>;
  authenticate: Authenticate;
  issued: Pick<IssuedTokenReader, 'active'>;
  allowedHosts: AllowedHostsAndOrigins;
  /**
   * True if the principal has already sent a message with this id. The app answers such a message like its first copy.
   */
  isKnown: (principal: string, messageId: string) => Promise<boolean>;
  openRequests: OpenRequestLimiter;
  measured?: RequestMeasurement;
  log: Logger;
}

/** Returns a listener that refuses some requests itself and passes all others to the app. */
export function withLoadShedding(app: RequestListener, parts: LoadSheddingParts): RequestListener {
  const shed = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const since = performance.now();
    // After an error, e.g. for a wrong token, the app handles the request and answers with the same error.
    const refusal = await findRefusal(request, response, parts).catch(() => undefined);
    // For a closed response, the app would count an open request that never ends.
    if (response.destroyed) return;
    if (refusal === undefined) app(request, response);
    else sendRefusal(response, refusal, { ...parts, since });
  };
  return (request, response) => {
    // If no task waits, the app handles the request, so load shedding costs only this check.
    if (parts.slots.waiting === 0 || !isSmallJsonRpc(request)) app(request, response);
    else void shed(request, response);
  };
}

function isSmallJsonRpc({ method, url, headers }: IncomingMessage): boolean {
  return (
    method === 'POST' &&
    url === '/' &&
    // The app answers requests from pages of other origins, because it writes the CORS headers.
    headers.origin === undefined &&
    headers['content-encoding'] === undefined &&
    /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '') &&
    Number(headers['content-length'] ?? Infinity) <= MAX_BODY_BYTES
  );
}

/** The refusal of a call, as its client gets it. */
interface Refusal extends RetryLater {
  principal: string;
  method: string;
  body: string;
}

/** Returns undefined if the app must answer the request, or if the client has disconnected. */
async function findRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  { slots, authenticate, issued, allowedHosts, isKnown, openRequests }: LoadSheddingParts,
): Promise<Refusal | undefined> {
  checkHostAndOrigin(request.headers.host, request.headers.origin, allowedHosts);
  const identity = await authenticate(request.headers.authorization);
  const { principal, tokenId } = identity;
  if (slots.hasSpace(principal)) return undefined;
  const roles = rolesOf(identity, tokenId === undefined ? undefined : await issued.active(tokenId));
  if (response.destroyed) return undefined;
  const { becomeStream, end } = openRequests.open(principal);
  try {
    const body = await readRequestBody(request, MAX_BODY_BYTES);
    if (body === undefined) return undefined;
    // A body can be read only once. So the app gets the body that was read here.
    Object.assign(request, { body });
    const { version, legacy } = parseA2aVersion(request.headers['a2a-version']?.toString());
    const call = A2A_VERSIONS.includes(version) ? newTaskIn(body, legacy) : undefined;
    if (call === undefined || !mayBegin(call, roles)) return undefined;
    if (await isKnown(principal, call.params.message.messageId)) return undefined;
    const refused = await refusalOf(async () => {
      if (slots.hasSpace(principal)) return;
      becomeStream();
      await slots.requireSpace(principal);
    });
    if (refused === undefined) return undefined;
    const { error, ...later } = refused;
    const { id, method } = call;
    const text = JSON.stringify(rpcError(id, error, legacy ? 'jsonrpc-0.3' : 'jsonrpc'));
    return { ...later, principal, method, body: text };
  } finally {
    // From here, the request no longer counts as open. Either its answer follows at once, or the app counts it again.
    end();
  }
}

function sendRefusal(
  response: ServerResponse,
  { principal, method, status, retryAfter, body }: Refusal,
  { measured, log, since }: Pick<LoadSheddingParts, 'measured' | 'log'> & { since: number },
): void {
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Retry-After': retryAfter,
  });
  response.end(body);
  const ms = performance.now() - since;
  const facts = { method: 'POST', operation: method, status };
  measured?.record({ ...facts, route: '/', seconds: ms / 1_000 });
  log.debug({ ...facts, principal, ms }, 'a new task was refused');
}

/**
 * Returns the refusal by a limit that `act` throws, and when to try again. Undefined if it throws nothing. Throws other
 * errors.
 */
async function refusalOf(act: () => Promise<void>): Promise<(RetryLater & { error: unknown }) | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    const later = isLimitRefusal(error) ? retryLaterOf(error) : undefined;
    if (later === undefined) throw error;
    return { ...later, error };
  }
}

/** Returns the JSON-RPC call if all that it can do is start a task. */
function newTaskIn(body: Uint8Array, legacy: boolean): NewTask | undefined {
  const json = safeParseJson(body, DEFAULT_BODY_LIMITS.depth);
  const call = json.type === 'value' ? newTask.safeParse(json.value).data : undefined;
  return call?.method.startsWith('message/') === legacy ? call : undefined;
}

/** True if the roles surely allow the task. The app tells a sender without the needed role which role is missing. */
function mayBegin({ params: { message, metadata } }: NewTask, roles: readonly Role[]): boolean {
  // The metadata may ask for tool calls without an approval. Only a sender with the role `approve` may do so.
  const asks = metadata !== undefined || message.metadata !== undefined;
  return roles.includes('delegate') && (roles.includes('approve') || !asks);
}
