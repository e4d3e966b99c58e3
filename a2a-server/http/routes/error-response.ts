/**
 * Sends errors that occur before or outside a binding's handler, such as a failed authentication or an unreadable
 * request.
 */
import type { Request, Response } from 'express';
import { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { A2AError, restStatusFor } from '@a2a-js/sdk/errors';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { NotJson } from '../wire/json-body.ts';
import { a2aVersionOf } from '../wire/json-rpc-envelope.ts';
import { isLegacyRest } from './legacy-rest-route.ts';
import { rpcError } from './json-rpc-route.ts';
import { sendRestError } from './rest-route.ts';
import { PARSE_ERROR, retryLaterOf, toWireError, unparsableError, WIRE_ERRORS } from '../wire/wire-errors.ts';
import type { WireFormat } from '../wire/wire-errors.ts';

export function httpStatusOf(error: unknown): number {
  if (error instanceof ProductError) return WIRE_ERRORS[error.reason].http;
  return error instanceof A2AError ? restStatusFor(error) : 500;
}

export function sendError(request: Request, response: Response, error: unknown): void {
  const reason = error instanceof ProductError ? error.reason : undefined;
  // A 401 response has `WWW-Authenticate` (RFC 6750 §3). A response to try again later has `Retry-After` (RFC 9110
  // §10.2.3).
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
  const wire: WireFormat = a2aVersionOf(request.header('A2A-Version')).legacy ? 'jsonrpc-0.3' : 'jsonrpc';
  if (error instanceof NotJson) {
    response.json(rpcError(null, unparsableError(error, wire, PARSE_ERROR), wire));
    return;
  }
  response.status(httpStatusOf(error)).json(rpcError(null, error, wire));
}
