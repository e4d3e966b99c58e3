/**
 * Sends errors that occur before or outside a binding's handler, such as a failed authentication or an unreadable
 * request.
 */
import { PARSE_ERROR } from '../../../shared/net/json-rpc-codes.ts';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { z } from 'zod';
import { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { isLimitRefusal, ProductError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { senderOf } from '../auth/caller.ts';
import { NotJsonError } from './json-body.ts';
import { parseA2aVersion } from '../wire/json-rpc-envelope.ts';
import { isLegacyRest } from './legacy-rest-route.ts';
import { rpcError } from './json-rpc-route.ts';
import { sendRestError } from './rest-response.ts';
import { httpStatusOf, retryLaterOf, toWireError, unparsableError } from '../wire/wire-errors.ts';
import type { WireFormat } from '../wire/wire-errors.ts';

/** Turns each error of a route into a response, and logs the errors that concern an operator. */
export function createErrorHandler(log: Logger): ErrorRequestHandler {
  return (raw: unknown, request: Request, response: Response, _next) => {
    const error = toAddressError(raw);
    const status = httpStatusOf(error);
    if (status >= 500 && !isLimitRefusal(error) && !isShutdown(error))
      log.error({ err: error, path: request.path }, 'a request failed');
    // A2A 1.0 §13.4: a server logs authentication failures. X1: the log must never contain the credential.
    if (status === 401 || status === 403)
      log.warn(
        {
          status,
          method: request.method,
          path: request.path,
          from: request.socket.remoteAddress,
          ...senderOf(request),
        },
        'a request was refused',
      );
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    sendError(request, response, error);
  };
}

const expressError = z.object({ status: z.number().int().min(400).max(499) });

/** Converts an error of Express about a malformed address. Returns other errors unchanged. */
function toAddressError(error: unknown): unknown {
  if (error instanceof ProductError || !expressError.safeParse(error).success) return error;
  return new ProductError('MALFORMED', 'The request could not be read: its address is malformed.', {
    cause: error,
  });
}

function sendError(request: Request, response: Response, error: unknown): void {
  const reason = error instanceof ProductError ? error.reason : undefined;
  // A 401 response has `WWW-Authenticate` (RFC 6750 §3). If the client should try again later, the response has
  // `Retry-After` (RFC 9110 §10.2.3).
  if (reason === 'UNAUTHENTICATED') response.setHeader('WWW-Authenticate', 'Bearer realm="mcp-a2a-bridge"');
  const later = retryLaterOf(error);
  if (later !== undefined) response.setHeader('Retry-After', later.retryAfter);
  if (isLegacyRest(request.path, request.header('A2A-Version'))) {
    const mapped = toWireError(error, 'jsonrpc-0.3');
    response.status(httpStatusOf(error)).json(LegacyRestTransportHandler.mapToLegacyHTTPError(mapped));
    return;
  }
  if (request.path !== '/') {
    sendRestError(response, error);
    return;
  }
  const wire: WireFormat = parseA2aVersion(request.header('A2A-Version')).legacy ? 'jsonrpc-0.3' : 'jsonrpc';
  if (error instanceof NotJsonError) {
    response.json(rpcError(null, unparsableError(error, wire, PARSE_ERROR), wire));
    return;
  }
  response.status(httpStatusOf(error)).json(rpcError(null, error, wire));
}

function isShutdown(error: unknown): boolean {
  return error instanceof ProductError && error.reason === 'SHUTTING_DOWN';
}
