/**
 * Implements the CORS protocol (Fetch Standard §3.3) for web pages of other origins. The origin check runs before this
 * handler, so the origin is allowed.
 */
import type { RequestHandler } from 'express';
import { LAST_EVENT_ID_HEADER } from '../../../shared/protocol/resumable-stream-extension.ts';
import { EXTENSIONS_HEADER, LEGACY_EXTENSIONS_HEADER } from './a2a-request-context.ts';

const MAX_AGE_SECONDS = 600;

const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'A2A-Version',
  EXTENSIONS_HEADER,
  LEGACY_EXTENSIONS_HEADER,
  LAST_EVENT_ID_HEADER,
  // A page with tracing adds these headers to its requests (W3C Trace Context §3).
  'traceparent',
  'tracestate',
];
const RESPONSE_HEADERS = [EXTENSIONS_HEADER, LEGACY_EXTENSIONS_HEADER, 'Retry-After', 'WWW-Authenticate'];

/** Allows a page to read responses. Also answers preflight requests, which never have a token. */
export const cors: RequestHandler = (request, response, next) => {
  response.vary('Origin');
  const origin = request.header('Origin');
  if (origin === undefined) return next();
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Expose-Headers', RESPONSE_HEADERS.join(', '));
  if (request.method !== 'OPTIONS' || request.header('Access-Control-Request-Method') === undefined)
    return next();
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST, DELETE');
  response.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS.join(', '));
  response.setHeader('Access-Control-Max-Age', String(MAX_AGE_SECONDS));
  // Private Network Access: a page from another network needs this permission to send requests to this machine.
  if (request.header('Access-Control-Request-Private-Network') === 'true')
    response.setHeader('Access-Control-Allow-Private-Network', 'true');
  response.status(204).end();
};
