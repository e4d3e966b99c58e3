/**
 * Serves the JSON-RPC binding of A2A 1.0 and 0.3. The SDK's handlers decode the requests. This server writes the event
 * streams.
 */
import { INVALID_REQUEST, METHOD_NOT_FOUND } from '../../../shared/net/json-rpc-codes.ts';
import { Router } from 'express';
import type { Request, Response } from 'express';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { JsonRpcTransportHandler, validateVersion } from '@a2a-js/sdk/server';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { AgentCard } from '@a2a-js/sdk';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { requireRole } from '../../access/role.ts';
import { rolesForMethod } from './methods-and-roles.ts';
import {
  A2aRequestContext,
  EXTENSIONS_HEADER,
  LEGACY_EXTENSIONS_HEADER,
} from '../auth/a2a-request-context.ts';
import { callerOf } from '../auth/caller.ts';
import { requireOwnTenant } from './requested-tenant.ts';
import { jsonBody } from './json-body.ts';
import type { BodyLimits } from './json-body.ts';
import {
  parseJsonRpcEnvelope,
  requestIdOf,
  isNotification,
  findMethodProblem,
  parseA2aVersion,
} from '../wire/json-rpc-envelope.ts';
import type { JsonRpcEnvelope, RequestId } from '../wire/json-rpc-envelope.ts';
import { createLegacyFinalSetter } from '../wire/legacy-final-flag.ts';
import { respondWithStream } from '../streams/stream-response.ts';
import { sseIdOfEvent } from '../streams/event-cursor.ts';
import { moveGenerationsIntoFields } from '../wire/generation-field.ts';
import type { ServerDraftProtocol } from '../wire/draft-protocols.ts';
import { checkRequestParams } from '../wire/request-schemas.ts';
import { toWireError, unparsableError } from '../wire/wire-errors.ts';
import type { WireFormat } from '../wire/wire-errors.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';

export interface A2aBindingOptions {
  handler: A2ARequestHandler;
  card: AgentCard;
  limits: BodyLimits;
  heartbeatMs: number;
  log: Logger;
  /** The draft protocols that the server offers. */
  draftProtocols: readonly ServerDraftProtocol[];
}

export function jsonRpcRoute({
  handler,
  card,
  limits,
  heartbeatMs,
  log,
  draftProtocols,
}: A2aBindingOptions): Router {
  const modern = new JsonRpcTransportHandler(handler);
  const old = new LegacyJsonRpcTransportHandler(handler);

  const answer = async (request: Request, response: Response): Promise<void> => {
    const { version, legacy } = parseA2aVersion(request.header('A2A-Version'));
    const wire: WireFormat = legacy ? 'jsonrpc-0.3' : 'jsonrpc';
    const context = new A2aRequestContext({
      caller: callerOf(request),
      wire,
      requestedVersion: version,
      headers: request.headers,
      log,
      draftProtocols,
    });
    const id = requestIdOf(request.body);
    const refuse = (error: unknown): void => void response.json(rpcError(id, error, wire));
    let body: JsonRpcEnvelope;
    try {
      body = parseJsonRpcEnvelope(request.body);
    } catch (error) {
      refuse(error instanceof ProductError ? unparsableError(error, wire, INVALID_REQUEST) : error);
      return;
    }
    const silent = isNotification(body);
    try {
      validateVersion(version, card, 'JSONRPC');
      body = permittedCall(body, context, legacy);
    } catch (error) {
      context.logIfForbidden(error);
      if (silent) response.status(204).end();
      else refuse(error);
      return;
    }
    const active = context.activatedExtensions;
    if (active) response.setHeader(legacy ? LEGACY_EXTENSIONS_HEADER : EXTENSIONS_HEADER, active.join(','));
    const answered = await (legacy ? old : modern).handle(body, context);
    if (silent) {
      if (Symbol.asyncIterator in answered) await firstOf(answered);
      response.status(204).end();
      return;
    }
    if (!(Symbol.asyncIterator in answered)) {
      markRetryLater(response, context);
      if ('result' in answered) moveGenerationsIntoFields(answered.result);
      response.json(answered);
      return;
    }
    const final = createLegacyFinalSetter(body.method);
    await respondWithStream(response, {
      events: answered,
      context,
      heartbeatMs,
      format: {
        frame(event) {
          moveGenerationsIntoFields(event.result);
          return { data: JSON.stringify(final(event)), id: sseIdOfEvent(event.result) };
        },
        errorFrame: (error) => ({ event: 'error', data: JSON.stringify(rpcError(id, error, wire)) }),
        refuse(error) {
          markRetryLater(response, context);
          refuse(error);
        },
      },
    });
  };

  const router = Router();
  router.post('/', ...jsonBody(['application/json'], limits), answer);
  return router;
}

/**
 * Returns the call with checked parameters.
 * @throws A2AError if the method is unknown; ProductError if a role is missing, or the tenant or a parameter is wrong
 */
function permittedCall(
  { method, ...body }: JsonRpcEnvelope,
  context: A2aRequestContext,
  legacy: boolean,
): JsonRpcEnvelope {
  const { caller, wire } = context;
  const unknown = findMethodProblem(method, legacy);
  if (unknown !== undefined)
    throw unparsableError(new ProductError('MALFORMED', unknown), wire, METHOD_NOT_FOUND);
  caller.addFacts({ operation: method });
  requireRole(caller.roles, rolesForMethod(method));
  if (!legacy) requireOwnTenant(caller.principal, body.params);
  const params = checkRequestParams(method, body.params ?? {});
  context.setGenerations(method, params);
  return { ...body, method, params };
}

/**
 * Sets the HTTP status and `Retry-After` of a response, if a limit has refused the request. A JSON-RPC error has status
 * 200, but clients and proxies that know only HTTP must see the refusal.
 */
function markRetryLater(response: Response, { retryLater }: A2aRequestContext): void {
  if (retryLater === undefined) return;
  response.status(retryLater.status);
  response.setHeader('Retry-After', retryLater.retryAfter);
}

/**
 * Reads only the first event of a stream for a notification, because a notification gets no response (JSON-RPC 2.0
 * §4.1). The task continues without a reader.
 */
async function firstOf(events: AsyncGenerator<unknown, void, undefined>): Promise<void> {
  await events.next().catch(() => undefined);
  await events.return();
}

export function rpcError(id: RequestId, error: unknown, wire: WireFormat): object {
  const mapped = toWireError(error, wire);
  return {
    jsonrpc: '2.0',
    id,
    error:
      wire === 'jsonrpc-0.3'
        ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(mapped)
        : JsonRpcTransportHandler.mapToJSONRPCError(mapped),
  };
}
