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
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { DeleteTaskPushNotificationConfigRequest, ListTasksResponse, StreamResponse } from '@a2a-js/sdk';
import { VersionNotSupportedError } from '@a2a-js/sdk/errors';
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
import { answerType, JSON_CONTENT_TYPE, restStreamFormat } from './rest-response.ts';

type AnswerRequest<T> = (request: Request, context: A2aRequestContext) => T;
type Events = AsyncGenerator<StreamResponse, void, undefined>;
/** Makes a handler that answers with the JSON that `act` returns. */
type AnswerWith = (act: AnswerRequest<Promise<unknown>>) => RequestHandler;

export function restRoute(options: A2aBindingOptions): Router {
  const { handler, limits, heartbeatMs } = options;
  const answer: AnswerWith = (act) => async (request, response) => {
    const body = await act(request, contextOf(request, response, options));
    response.type(answerType(request)).json(moveGenerationsIntoFields(body));
  };

  const stream =
    (events: AnswerRequest<Events>): RequestHandler =>
    async (request, response) => {
      const context = contextOf(request, response, options);
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
    const context = contextOf(request, response, options);
    await respondToStreamHead(response, handler.resubscribe({ tenant: '', ...idOf(request) }, context));
  });
  router.get('/tasks/:taskId\\:subscribe', subscribe);
  router.post('/tasks/:taskId\\:subscribe', ...body, subscribe);
  addPushConfigurationRoutes(router, handler, { answer, body });
  router.get(
    '/extendedAgentCard',
    answer(async (_request, context) =>
      AgentCard.toJSON(await handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, context)),
    ),
  );
  return router;
}

/** Creates the context of a request. @throws VersionNotSupportedError; ProductError UNKNOWN_ADDRESS for another tenant */
function contextOf(
  request: Request,
  response: Response,
  { card, log, draftProtocols }: A2aBindingOptions,
): A2aRequestContext {
  const { version, legacy } = parseA2aVersion(request.header('A2A-Version'));
  // A2A 1.0 §3.6.2: the response follows the rules of the requested version. These routes know only A2A 1.0.
  if (legacy)
    throw new VersionNotSupportedError(
      'This address speaks A2A 1.0: send the header "A2A-Version: 1.0". A2A 0.3 has the paths below /v1.',
    );
  validateVersion(version, card, 'HTTP+JSON');
  const caller = callerOf(request);
  requireOwnTenant(caller.principal, request.body);
  const context = new A2aRequestContext({
    caller,
    wire: 'rest',
    requestedVersion: version,
    headers: request.headers,
    log,
    draftProtocols,
  });
  const active = context.activatedExtensions;
  if (active) response.setHeader(EXTENSIONS_HEADER, active.join(','));
  return context;
}

/** Adds the routes of push notification configurations (A2A 1.0 §3.1.7 to §3.1.10). */
function addPushConfigurationRoutes(
  router: Router,
  handler: A2aBindingOptions['handler'],
  { answer, body }: { answer: AnswerWith; body: RequestHandler[] },
): void {
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
