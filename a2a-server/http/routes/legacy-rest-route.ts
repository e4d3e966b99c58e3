/**
 * The HTTP+JSON binding of A2A 0.3, from the SDK. Its streams have no ids and no heartbeats. They do have back-pressure: the
 * source waits while the socket is full.
 */
import { Router } from 'express';
import type { RequestHandler } from 'express';
import { legacyRestRouter } from '@a2a-js/sdk/compat/v0_3/server/express';
import { callerOf } from '../auth/caller.ts';
import { jsonBody } from '../wire/json-body.ts';
import type { BindingOptions } from './json-rpc-route.ts';
import { a2aVersionOf } from '../wire/json-rpc-envelope.ts';
import { restContext, checkMessageBody } from './rest-context.ts';

export function legacyRestRoute({ handler, limits, log }: BindingOptions): Router {
  const router = Router();
  router.use(onlyLegacy, ...jsonBody(['application/json'], limits), checkMessageBody);
  router.use(
    legacyRestRouter({
      requestHandler: handler,
      userBuilder: (request) => Promise.resolve(callerOf(request)),
      contextBuilder: restContext('jsonrpc-0.3', log),
    }),
  );
  return router;
}

/** True if the request is for this binding. */
export function isLegacyRest(path: string, version: string | undefined): boolean {
  return path.startsWith('/v1/') && a2aVersionOf(version).legacy;
}

const onlyLegacy: RequestHandler = (request, _response, next) =>
  next(isLegacyRest(request.path, request.header('A2A-Version')) ? undefined : 'router');
