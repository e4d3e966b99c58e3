/**
 * Serves the HTTP+JSON binding of A2A 1.0 (§11). The SDK's codec encodes and decodes. The SDK's own routes are not
 * used, because their streams have no ids and no back-pressure. The SDK's routes also drop the reason of a cancel, and
 * send a `status` that does not match the HTTP status.
 */
import { Router } from 'express';
import type { Request, RequestHandler, Response } from 'express';
import {
  A2A_CONTENT_TYPE,
  AgentCard,
  CancelTaskRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { DeleteTaskPushNotificationConfigRequest, ListTasksResponse } from '@a2a-js/sdk';
import { restStatusFor, toRestErrorBody, VersionNotSupportedError } from '@a2a-js/sdk/errors';
import { validateVersion } from '@a2a-js/sdk/server';
import { LAST_EVENT_ID_HEADER } from '../../../shared/protocol/resumable-stream-extension.ts';
import { isRecord } from '../../../shared/runtime/record.ts';
import { callerOf } from '../auth/caller.ts';
import { A2aRequestContext, EXTENSIONS_HEADER } from '../auth/a2a-request-context.ts';
import { requireOwnTenant } from './requested-tenant.ts';
import { moveGenerationsIntoFields } from '../wire/generation-field.ts';
import { checkRequestParams } from '../wire/request-schemas.ts';
import { jsonBody } from './json-body.ts';
import { parseA2aVersion } from '../wire/json-rpc-envelope.ts';
import type { A2aBindingOptions } from './json-rpc-route.ts';
import { respondToStreamHead, respondWithStream } from '../streams/stream-response.ts';
import type { StreamFormat } from '../streams/stream-response.ts';
import { sseIdOfEvent } from '../streams/event-cursor.ts';
import { retryLaterOf, toWireError } from '../wire/wire-errors.ts';

const JSON_CONTENT_TYPE = 'application/json';

type AnswerRequest<T> = (request: Request, context: A2aRequestContext) => T;
type Events = AsyncGenerator<StreamResponse, void, undefined>;

export function restRoute({
  handler,
  card,
  limits,
  heartbeatMs,
  log,
  draftProtocols,
}: A2aBindingOptions): Router {
  const contextOf = (request: Request, response: Response): A2aRequestContext => {
    const { version, legacy } = parseA2aVersion(request.header('A2A-Version'));
    // A2A 1.0 §3.6.2: the response follows the rules of the requested version. These routes know only A2A 1.0.
    if (legacy)
      throw new VersionNotSupportedError(
        'This address speaks A2A 1.0: send the header "A2A-Version: 1.0". A2A 0.3 has the paths below /v1.',
      );
    validateVersion(version, card, 'HTTP+JSON');
    requireOwnTenant(callerOf(request).principal, request.body);
    const context = new A2aRequestContext({
      caller: callerOf(request),
      wire: 'rest',
      requestedVersion: version,
      headers: request.headers,
      log,
      draftProtocols,
    });
    const active = context.activatedExtensions;
    if (active) response.setHeader(EXTENSIONS_HEADER, active.join(','));
    return context;
  };

  const answer =
    (act: AnswerRequest<Promise<unknown>>): RequestHandler =>
    async (request, response) => {
      const body = await act(request, contextOf(request, response));
      response.type(answerType(request)).json(moveGenerationsIntoFields(body));
    };

  const stream =
    (events: AnswerRequest<Events>): RequestHandler =>
    async (request, response) => {
      const context = contextOf(request, response);
      const format = restStreamFormat(response);
      await respondWithStream(response, { events: events(request, context), context, heartbeatMs, format });
    };

  const subscribe = stream((request, context) =>
    handler.resubscribe({ tenant: '', ...idOf(request) }, context),
  );
  const body = jsonBody([JSON_CONTENT_TYPE, A2A_CONTENT_TYPE], limits);

  const router = Router();
  // Without this check, `/tasks/x:cancel` would be a task with the id "x:cancel".
  router.param('taskId', (_request, _response, next, id: string) =>
    next(id.includes(':') ? 'route' : undefined),
  );
  router.post(
    '/message\\:send',
    ...body,
    answer(async (request, context) => {
      const sent = await handler.sendMessage(messageOf('SendMessage', request, context), context);
      return 'messageId' in sent ? { message: Message.toJSON(sent) } : { task: Task.toJSON(sent) };
    }),
  );
  router.post(
    '/message\\:stream',
    ...body,
    stream((request, context) =>
      handler.sendMessageStream(messageOf('SendStreamingMessage', request, context), context),
    ),
  );
  router.get(
    '/tasks',
    answer(async ({ query }, context) => {
      const wanted = ListTasksRequest.fromJSON(checkRequestParams('GET /tasks', query));
      return listAnswer(await handler.listTasks(wanted, context), wanted.includeArtifacts ?? false);
    }),
  );
  router.get(
    '/tasks/:taskId',
    answer(async (request, context) => {
      const wanted = checkRequestParams('GetTask', { ...request.query, ...idOf(request) });
      context.setGenerations('GetTask', wanted);
      return Task.toJSON(await handler.getTask(GetTaskRequest.fromJSON(wanted), context));
    }),
  );
  router.post(
    '/tasks/:taskId\\:cancel',
    ...body,
    answer(async (request, context) => {
      const wanted = checkRequestParams('CancelTask', withPathIds(request.body, idOf(request)));
      return Task.toJSON(await handler.cancelTask(CancelTaskRequest.fromJSON(wanted), context));
    }),
  );
  router.head('/tasks/:taskId\\:subscribe', async (request, response) => {
    // HEAD waits for the first event. Without a cursor, this event is the task, which comes at once. With a cursor, the
    // first event could come much later.
    delete request.headers[LAST_EVENT_ID_HEADER.toLowerCase()];
    const context = contextOf(request, response);
    await respondToStreamHead(response, handler.resubscribe({ tenant: '', ...idOf(request) }, context));
  });
  router.get('/tasks/:taskId\\:subscribe', subscribe);
  router.post('/tasks/:taskId\\:subscribe', ...body, subscribe);
  router
    .route('/tasks/:taskId/pushNotificationConfigs')
    .get(
      answer(async (request, context) => {
        const taskId = String(request.params['taskId']);
        const wanted = checkRequestParams('ListTaskPushNotificationConfigs', { ...request.query, taskId });
        return ListTaskPushNotificationConfigsResponse.toJSON(
          await handler.listTaskPushNotificationConfigs(
            ListTaskPushNotificationConfigsRequest.fromJSON(wanted),
            context,
          ),
        );
      }),
    )
    .post(
      ...body,
      answer(async (request, context) => {
        const wanted = checkRequestParams(
          'CreateTaskPushNotificationConfig',
          withPathIds(request.body, { taskId: String(request.params['taskId']) }),
        );
        return TaskPushNotificationConfig.toJSON(
          await handler.createTaskPushNotificationConfig(
            TaskPushNotificationConfig.fromJSON(wanted),
            context,
          ),
        );
      }),
    );
  router
    .route('/tasks/:taskId/pushNotificationConfigs/:configId')
    .get(
      answer(async (request, context) =>
        TaskPushNotificationConfig.toJSON(
          await handler.getTaskPushNotificationConfig(configOf(request), context),
        ),
      ),
    )
    .delete(
      answer(async (request, context) => {
        await handler.deleteTaskPushNotificationConfig(configOf(request), context);
        return {};
      }),
    );
  router.get(
    '/extendedAgentCard',
    answer(async (_request, context) =>
      AgentCard.toJSON(await handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, context)),
    ),
  );
  return router;
}

function messageOf(operation: string, { body }: Request, context: A2aRequestContext): SendMessageRequest {
  const params = checkRequestParams(operation, body ?? {});
  context.setGenerations(operation, params);
  return SendMessageRequest.fromJSON(params);
}

function idOf({ params }: Request): { id: string } {
  return { id: String(params['taskId']) };
}

/** Adds the ids of the path to a body. A body that is no object stays unchanged, and the check then refuses it. */
function withPathIds(body: unknown, ids: object): unknown {
  const given = body ?? {};
  return isRecord(given) ? { ...given, ...ids } : given;
}

/** Returns the request for the push notification configuration that the path names. */
function configOf({ params }: Request): DeleteTaskPushNotificationConfigRequest {
  return { tenant: '', taskId: String(params['taskId']), id: String(params['configId']) };
}

/**
 * Returns the body of a list of tasks. A2A 1.0 §3.1.4: `nextPageToken` is always present. `artifacts` is present only
 * on request.
 */
function listAnswer({ tasks, ...page }: ListTasksResponse, artifacts: boolean): object {
  const encoded = tasks.map((task) => Object.assign(artifacts ? { artifacts: [] } : {}, Task.toJSON(task)));
  return { tasks: encoded, ...page };
}

/**
 * Returns the media type of the response. A2A 1.0 §11.1: it is the A2A media type, unless the client prefers plain
 * JSON.
 */
function answerType(request: Request): string {
  return request.accepts([A2A_CONTENT_TYPE, JSON_CONTENT_TYPE]) || A2A_CONTENT_TYPE;
}

/** The google.rpc.Code names that differ from the SDK's names. */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  409: 'ALREADY_EXISTS',
  413: 'RESOURCE_EXHAUSTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
};

const ABORTED: ReadonlySet<string> = new Set(['SESSION_BUSY', 'TASK_GENERATION_MISMATCH']);

function restError(error: unknown): { code: number; body: object } {
  const mapped = toWireError(error, 'rest');
  const code = restStatusFor(mapped);
  const body = toRestErrorBody(mapped, code);
  // google.rpc.Code: ABORTED means two conflicting requests, ALREADY_EXISTS means an id in use. Both are 409.
  const status = ABORTED.has(mapped.reason) ? 'ABORTED' : (STATUS_NAMES[code] ?? body.error.status);
  return { code, body: { error: { ...body.error, status } } };
}

/** Formats events as in A2A 1.0 §11.7. The SSE id is the event's `seq` or generation. */
export function restStreamFormat(response: Response): StreamFormat<StreamResponse> {
  return {
    frame: (event) => {
      const wire = moveGenerationsIntoFields(StreamResponse.toJSON(event));
      return { data: JSON.stringify(wire), id: sseIdOfEvent(wire) };
    },
    errorFrame: (error) => ({ event: 'error', data: JSON.stringify(restError(error).body) }),
    refuse: (error) => sendRestError(response, error),
  };
}

export function sendRestError(response: Response, error: unknown): void {
  const { code, body } = restError(error);
  const later = retryLaterOf(toWireError(error, 'rest'));
  if (later !== undefined) response.setHeader('Retry-After', later.retryAfter);
  response.status(code).type(answerType(response.req)).json(body);
}
