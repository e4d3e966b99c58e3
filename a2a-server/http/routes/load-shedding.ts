/**
 * Refuses new tasks of a principal whose queue is full, before Express and the checks of a request do any work. So an
 * overloaded server spends its processor time on the accepted tasks.
 *
 * - Only a JSON-RPC request that certainly starts a task is refused here. Every other request goes to the app, which
 *   also refuses new tasks. A decision or a cancel must reach its task, however busy the server is.
 * - The client gets the same status, `Retry-After` and error from here as from the app.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { z } from 'zod';
import { isLimitRefusal } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { FairTurns } from '../../limits/fair-turns.ts';
import type { OpenRequests } from '../../limits/open-requests.ts';
import type { Authenticate } from '../auth/tokens.ts';
import { DEFAULT_BODY_LIMITS } from '../wire/json-body.ts';
import { a2aVersionOf } from '../wire/json-rpc-envelope.ts';
import { parseJson } from '../wire/json-text.ts';
import { type RetryLater, retryLaterOf } from '../wire/wire-errors.ts';
import { rpcError } from './json-rpc-route.ts';
import type { RequestMeasurement } from './request-measurement.ts';

/** The app reads larger bodies itself, so that this module keeps little memory. */
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
    }),
  }),
});
type NewTask = z.infer<typeof newTask>;

export interface LoadSheddingParts {
  turns: Pick<FairTurns, 'waiting' | 'hasSpace' | 'requireSpace'>;
  authenticate: Authenticate;
  /** True if the principal has already sent a message with this id. The app answers it as before. */
  isKnown: (principal: string, messageId: string) => Promise<boolean>;
  openRequests: OpenRequests;
  measured?: RequestMeasurement;
  log: Logger;
}

/** Returns a listener that refuses some requests itself and passes all others to the app. */
export function withLoadShedding(app: RequestListener, parts: LoadSheddingParts): RequestListener {
  const shed = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // The app answers with the error, for example for a wrong token.
    if (!(await refuse(request, response, parts).catch(() => false))) app(request, response);
  };
  return (request, response) => {
    // Without a queue, a request costs no more than this check.
    if (parts.turns.waiting === 0 || !isSmallJsonRpc(request)) app(request, response);
    else void shed(request, response);
  };
}

function isSmallJsonRpc({ method, url, headers }: IncomingMessage): boolean {
  return (
    method === 'POST' &&
    url === '/' &&
    // The app also writes the CORS headers for the page of another origin.
    headers.origin === undefined &&
    headers['content-encoding'] === undefined &&
    headers['content-type']?.startsWith('application/json') === true &&
    Number(headers['content-length'] ?? Infinity) <= MAX_BODY_BYTES
  );
}

/** Returns true if the request needs no other answer. */
async function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { turns, authenticate, isKnown, openRequests, measured, log }: LoadSheddingParts,
): Promise<boolean> {
  const since = performance.now();
  const { principal } = await authenticate(request.headers.authorization);
  if (turns.hasSpace(principal)) return false;
  const { becomeStream, end } = openRequests.open(principal);
  response.once('close', end);
  const body = await bodyOf(request);
  if (body === undefined) return true;
  // Express's body parser accepts a body that was read before.
  Object.assign(request, { body });
  const { version, legacy } = a2aVersionOf(request.headers['a2a-version']?.toString());
  const call = A2A_VERSIONS.includes(version) ? newTaskIn(body, legacy) : undefined;
  if (call !== undefined && !(await isKnown(principal, call.params.message.messageId))) {
    const refusal = await refusalOf(async () => {
      becomeStream();
      await turns.requireSpace(principal);
    });
    if (refusal) {
      const { status, retryAfter, error } = refusal;
      const text = JSON.stringify(rpcError(call.id, error, legacy ? 'jsonrpc-0.3' : 'jsonrpc'));
      response.writeHead(status, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(text),
        'Retry-After': retryAfter,
      });
      response.end(text);
      const ms = performance.now() - since;
      const facts = { method: 'POST', operation: call.method, status };
      measured?.record({ ...facts, route: '/', seconds: ms / 1_000 });
      log.debug({ ...facts, principal, ms }, 'a new task was refused');
      return true;
    }
  }
  // The app counts the request itself.
  end();
  return false;
}

/** Returns the refusal by a limit that `act` throws, and when to try again. Undefined if it throws nothing. */
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

/** Returns the call if it certainly starts a task. */
function newTaskIn(body: Uint8Array, legacy: boolean): NewTask | undefined {
  const json = parseJson(body, DEFAULT_BODY_LIMITS.depth);
  const call = json.type === 'value' ? newTask.safeParse(json.value).data : undefined;
  return call?.method.startsWith('message/') === legacy ? call : undefined;
}

/** Reads the body. Resolves with undefined if the client disconnects before its end. */
function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    // The client may have disconnected while the server read its access.
    if (request.destroyed) resolve(undefined);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () => resolve(undefined));
  });
}
