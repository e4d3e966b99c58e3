/**
 * Serves the HTTP+JSON binding of A2A 0.3 with the SDK's routes. Its streams have no ids and no heartbeats. They do
 * have back-pressure, because the event source waits while the socket is full.
 */
import { Router } from 'express';
import type { RequestHandler } from 'express';
import { legacyRestRouter } from '@a2a-js/sdk/compat/v0_3/server/express';
import type { ServerCallContextBuilder } from '@a2a-js/sdk/server';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { A2aRequestContext } from '../auth/a2a-request-context.ts';
import { Caller, callerOf } from '../auth/caller.ts';
import { jsonBody } from './json-body.ts';
import type { A2aBindingOptions } from './json-rpc-route.ts';
import { parseA2aVersion } from '../wire/json-rpc-envelope.ts';
import { checkRequestParams } from '../wire/request-schemas.ts';
import { respondToStreamHead } from '../streams/stream-response.ts';
import { LAST_EVENT_ID_HEADER } from '../../../shared/protocol/resumable-stream-extension.ts';

export function legacyRestRoute({ handler, limits, log }: A2aBindingOptions): Router {
  const router = Router();
  router.use(onlyLegacy, ...jsonBody(['application/json'], limits));
  router.post(['/v1/message\\:send', '/v1/message\\:stream'], checkedMessage);
  router.post('/v1/tasks/:taskId/pushNotificationConfigs', checkedPushConfig);
  router.get('/v1/tasks/:taskId', checkedTaskQuery);
  router.head<{ taskId: string }>('/v1/tasks/:taskId\\:subscribe', async (request, response) => {
    const { [LAST_EVENT_ID_HEADER.toLowerCase()]: _cursor, ...headers } = request.headers;
    const context = legacyContext({ caller: callerOf(request), headers, log });
    const events = handler.resubscribe({ tenant: '', id: request.params.taskId }, context);
    await respondToStreamHead(response, events);
  });
  router.use(
    legacyRestRouter({
      requestHandler: handler,
      userBuilder: (request) => Promise.resolve(callerOf(request)),
      contextBuilder: contextOf(log),
    }),
  );
  return router;
}

export function isLegacyRest(path: string, version: string | undefined): boolean {
  return path.startsWith('/v1/') && parseA2aVersion(version).legacy;
}

const onlyLegacy: RequestHandler = (request, _response, next) =>
  next(isLegacyRest(request.path, request.header('A2A-Version')) ? undefined : 'router');

const checkedMessage: RequestHandler = (request, _response, next) => {
  request.body = checkRequestParams('POST /v1/message', request.body ?? {});
  next();
};

/**
 * Checks the query before the SDK reads it. The SDK reads only the number at the start of `5abc`, so it would accept
 * `5abc`.
 */
const checkedTaskQuery: RequestHandler = (request, _response, next) => {
  checkRequestParams('GET /v1/tasks/{id}', request.query);
  next();
};

/** The SDK reads the task id from `name` in the body. The URL names the task, so this handler replaces `name`. */
const checkedPushConfig: RequestHandler<{ taskId: string }> = (request, _response, next) => {
  const checked = checkRequestParams('POST /v1/tasks/{id}/pushNotificationConfigs', request.body ?? {});
  request.body = { ...Object(checked), name: `tasks/${request.params.taskId}` };
  next();
};

function contextOf(log: Logger): ServerCallContextBuilder {
  return ({ user, headers }) => {
    if (!(user instanceof Caller))
      throw new ProductError('UNAUTHENTICATED', 'This request is not authenticated. Send a bearer token.');
    return legacyContext({ caller: user, headers, log });
  };
}

type RequestParts = Pick<ConstructorParameters<typeof A2aRequestContext>[0], 'caller' | 'headers' | 'log'>;

function legacyContext(parts: RequestParts): A2aRequestContext {
  return new A2aRequestContext({ ...parts, wire: 'jsonrpc-0.3', requestedVersion: '0.3' });
}
