/**
 * Builds the CORS headers for web pages of other origins (Fetch Standard, CORS protocol). Only pages with an allowed
 * origin receive these headers. Pure.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** The maximum time in seconds for which a browser may cache a preflight response. */
const MAX_AGE_SECONDS = 600;

/** The request headers of all MCP revisions, and the headers of a JSON request with a token. */
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Accept',
  'Last-Event-ID',
  'Mcp-Session-Id',
  'Mcp-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
];
const RESPONSE_HEADERS = ['Mcp-Session-Id', 'WWW-Authenticate', 'Retry-After'];

/** Returns the CORS headers of a response. Empty if the request has no Origin header. */
export function corsHeaders({ origin }: IncomingHttpHeaders): Readonly<Record<string, string>> {
  if (origin === undefined) return {};
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': RESPONSE_HEADERS.join(', '),
    Vary: 'Origin',
  };
}

export function isPreflight(method: string | undefined, headers: IncomingHttpHeaders): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/** Returns further headers for a preflight response, in addition to `corsHeaders`. Such a response has no body. */
export function preflightOnlyHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers': REQUEST_HEADERS.join(', '),
    'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
    // Private Network Access: this header allows a page from another network to call this machine.
    ...(headers['access-control-request-private-network'] === 'true'
      ? { 'Access-Control-Allow-Private-Network': 'true' }
      : {}),
  };
}
