/**
 * What browsers ask for before a page of another origin may talk to the bridge (Fetch Standard, CORS protocol). Only pages
 * whose origin the settings allow are ever given these headers. Pure.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** Seconds for which a browser need not ask again. */
const MAX_AGE = 600;

/** MCP's own request headers, of the older revisions and of 2026-07-28, beside what any JSON request with a token has. */
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

/** For every answer to a page that may read it; none for a client that is no page. */
export function pageHeaders({ origin }: IncomingHttpHeaders): Readonly<Record<string, string>> {
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

/** The answer to a preflight, beside `pageHeaders`. It has no body. */
export function preflightHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers': REQUEST_HEADERS.join(', '),
    'Access-Control-Max-Age': String(MAX_AGE),
    // Private Network Access: a page from elsewhere may reach this machine only where it says so.
    ...(headers['access-control-request-private-network'] === 'true'
      ? { 'Access-Control-Allow-Private-Network': 'true' }
      : {}),
  };
}
