/**
 * The HTTP+JSON binding of A2A 1.0. The SDK's handler does all but the streams and CancelTask: the SDK's streams have no ids and
 * no back-pressure, and its CancelTask drops the reason.
 */
import { Router } from 'express';
import type { Request, RequestHandler, Response } from 'express';
import { A2A_CONTENT_TYPE, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import { restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import { restHandler } from '@a2a-js/sdk/server/express';
import { validateVersion } from '@a2a-js/sdk/server';
import { z } from 'zod';
import { callerOf } from '../auth/caller.ts';
import { CallContext, EXTENSIONS_HEADER } from '../auth/call-context.ts';
import { restContext, checkMessageBody } from './rest-context.ts';
import { jsonBody } from '../wire/json-body.ts';
import { a2aVersionOf } from '../wire/json-rpc-envelope.ts';
import type { BindingOptions } from './json-rpc-route.ts';
import { respondWithStream } from '../streams/stream-response.ts';
import type { StreamFormat } from '../streams/stream-response.ts';
import { eventPosition } from '../streams/stream-position.ts';
import { toWireError } from '../wire/wire-errors.ts';

export function restRoute({ handler, card, limits, heartbeatMs, log }: BindingOptions): Router {
  const contextOf = (request: Request): CallContext => {
    const { version } = a2aVersionOf(request.header('A2A-Version'));
    validateVersion(version, card, 'HTTP+JSON');
    return new CallContext({
      caller: callerOf(request),
      wire: 'rest',
      requestedVersion: version,
      headers: request.headers,
      log,
    });
  };

  const stream =
    (events: (request: Request, context: CallContext) => AsyncGenerator<StreamResponse, void, undefined>) =>
    async (request: Request, response: Response): Promise<void> => {
      const context = contextOf(request);
      nameExtensions(response, context);
      await respondWithStream(response, {
        events: events(request, context),
        context,
        heartbeatMs,
        format: restStreamFormat(response),
      });
    };

  const cancel = async (request: Request<{ taskId: string }>, response: Response): Promise<void> => {
    const context = contextOf(request);
    nameExtensions(response, context);
    const body = z.object({ metadata: z.record(z.string(), z.unknown()) }).safeParse(request.body);
    const task = await handler.cancelTask(
      { tenant: '', id: request.params.taskId, metadata: body.data?.metadata },
      context,
    );
    response.type(A2A_CONTENT_TYPE).json(Task.toJSON(task));
  };

  const subscribe = stream((request, context) =>
    handler.resubscribe({ tenant: '', id: String(request.params['taskId']) }, context),
  );

  const router = Router();
  router.use(ownAddress, ...jsonBody(['application/json', A2A_CONTENT_TYPE], limits), checkMessageBody);
  router.post(
    '/message\\:stream',
    stream((request, context) =>
      handler.sendMessageStream(SendMessageRequest.fromJSON(request.body ?? {}), context),
    ),
  );
  router.get('/tasks/:taskId\\:subscribe', subscribe);
  router.post('/tasks/:taskId\\:subscribe', subscribe);
  router.post('/tasks/:taskId\\:cancel', cancel);
  router.use(
    restHandler({
      requestHandler: handler,
      userBuilder: (request) => Promise.resolve(callerOf(request)),
      contextBuilder: restContext('rest', log),
    }),
  );
  return router;
}

/** The paths of this binding. The SDK would also accept paths that start with a tenant, but there are no tenants. */
const PATHS = /^\/(?:message:|tasks(?:[/?]|$)|extendedAgentCard)/;

const ownAddress: RequestHandler = (request, _response, next) =>
  next(PATHS.test(request.url) ? undefined : 'router');

function nameExtensions(response: Response, { activatedExtensions }: CallContext): void {
  if (activatedExtensions) response.setHeader(EXTENSIONS_HEADER, activatedExtensions.join(','));
}

/** The google.rpc.Code names of statuses that no A2A error has. The SDK would give them other names. */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  409: 'ALREADY_EXISTS',
  413: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
};

function restError(error: unknown): { code: number; body: object } {
  const mapped = toWireError(error, 'rest');
  const code = restStatusFor(mapped);
  const body = toRestErrorBody(mapped, code);
  return { code, body: { error: { ...body.error, status: STATUS_NAMES[code] ?? body.error.status } } };
}

/** Formats events as in A2A 1.0 §11.7, each with its position if known. */
export function restStreamFormat(response: Response): StreamFormat<StreamResponse> {
  return {
    frame: (event) => {
      const wire = StreamResponse.toJSON(event);
      return { data: JSON.stringify(wire), id: eventPosition(wire) };
    },
    errorFrame: (error) => ({ event: 'error', data: JSON.stringify(restError(error).body) }),
    refuse: (error) => sendRestError(response, error),
  };
}

export function sendRestError(response: Response, error: unknown): void {
  const { code, body } = restError(error);
  response.status(code).type(A2A_CONTENT_TYPE).json(body);
}
