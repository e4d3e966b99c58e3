/**
 * The CORS protocol (Fetch Standard §3.3) for web pages of other origins. The origin check runs first. It accepts only
 * the origins that the operator lists.
 */
import type { RequestHandler } from 'express';
import { LAST_EVENT_ID } from '../../../shared/protocol/resumable-stream-extension.ts';
import { EXTENSIONS_HEADER } from './call-context.ts';

/** Seconds for which a browser may cache a preflight answer. */
const MAX_AGE = 600;

const REQUEST_HEADERS = ['Authorization', 'Content-Type', 'A2A-Version', EXTENSIONS_HEADER, LAST_EVENT_ID];
const RESPONSE_HEADERS = [EXTENSIONS_HEADER, 'Retry-After', 'WWW-Authenticate'];

/** Allows a page to read responses, and answers preflight requests. A preflight request never has a token. */
export const cors: RequestHandler = (request, response, next) => {
  response.vary('Origin');
  const origin = request.header('Origin');
  if (origin === undefined) return next();
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Expose-Headers', RESPONSE_HEADERS.join(', '));
  if (request.method !== 'OPTIONS' || request.header('Access-Control-Request-Method') === undefined)
    return next();
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
  response.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS.join(', '));
  response.setHeader('Access-Control-Max-Age', String(MAX_AGE));
  // Private Network Access: a page from another network needs this permission to reach this machine.
  if (request.header('Access-Control-Request-Private-Network') === 'true')
    response.setHeader('Access-Control-Allow-Private-Network', 'true');
  response.status(204).end();
};
