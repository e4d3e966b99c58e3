/**
 * Decides whether a request to MCP over HTTP is allowed (X1). Checks the Host and Origin headers and the bearer token. A
 * web page can point its own host name at 127.0.0.1, so that a browser sends the page's requests here. The Host and
 * Origin headers then show the page's name. Pure. Compares tokens in constant time.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server';
import { isOwnOrigin } from '../../../shared/net/is-own-origin.ts';
import { bearerToken, sameToken, tokenDigest } from '../../../shared/net/bearer-token.ts';

export interface AccessRules {
  token: string;
  /** The path of the token's file, for the error about a missing token. */
  tokenPath: string;
  /** Origins of pages that may send requests, such as `https://console.example.com`. */
  origins: readonly string[];
}

interface AccessRefused {
  status: 401 | 403;
  message: string;
}

/** Checks Host and Origin. @returns undefined if both are allowed */
export function checkHostAndOrigin(
  headers: IncomingHttpHeaders,
  { origins }: AccessRules,
): AccessRefused | undefined {
  const { host, origin } = headers;
  if (!validateHostHeader(host, localhostAllowedHostnames()).ok) {
    return {
      status: 403,
      message: `This bridge does not answer to the host ${quoted(host ?? '')}. Use 127.0.0.1 or localhost.`,
    };
  }
  if (origin !== undefined && !isOwnOrigin(origin, host) && !origins.includes(origin)) {
    return {
      status: 403,
      message: `Pages of ${quoted(origin)} may not call this bridge. Add the origin with --http-allow-origin.`,
    };
  }
  return undefined;
}

/**
 * Checks the bearer token.
 * @returns undefined if the request carries the token
 */
export function checkBearerToken(
  headers: IncomingHttpHeaders,
  access: AccessRules,
): AccessRefused | undefined {
  const shown = bearerToken(headers.authorization);
  if (shown !== undefined && sameToken(tokenDigest(shown), tokenDigest(access.token))) return undefined;
  return {
    status: 401,
    message: `This bridge asks for a bearer token: send "Authorization: Bearer <token>" with the one in ${access.tokenPath}.`,
  };
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
