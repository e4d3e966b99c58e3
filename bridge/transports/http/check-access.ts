/**
 * Decides whether a request to MCP over HTTP is allowed. X1: a request without a valid token, or from another web page,
 * is refused. A web page can direct its own host name to 127.0.0.1, so that the browser sends the page's requests here.
 * But the Host and Origin headers then contain the page's own name. Pure. Tokens are compared in constant time.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server';
import { isOwnOrigin } from '../../../shared/net/is-own-origin.ts';
import { bearerToken, isSameDigest, tokenDigest } from '../../../shared/net/bearer-token.ts';

export interface HttpAccessRules {
  token: string;
  /** The path of the token's file, for the error about a missing token. */
  tokenPath: string;
  /** The origins of web pages that may send requests, such as `https://console.example.com`. */
  origins: readonly string[];
}

interface AccessRefused {
  status: 401 | 403;
  message: string;
}

/** Checks the Host and Origin headers. Returns undefined if both are allowed. */
export function checkHostAndOrigin(
  headers: IncomingHttpHeaders,
  { origins }: HttpAccessRules,
): AccessRefused | undefined {
  const { host, origin } = headers;
  if (!validateHostHeader(host, localhostAllowedHostnames()).ok) {
    return {
      status: 403,
      message: `This bridge does not answer to the host ${quotedHeader(host ?? '')}. Use 127.0.0.1 or localhost.`,
    };
  }
  if (origin !== undefined && !isOwnOrigin(origin, host) && !origins.includes(origin)) {
    return {
      status: 403,
      message: `Pages of ${quotedHeader(origin)} may not call this bridge. Add the origin with --http-allow-origin.`,
    };
  }
  return undefined;
}

/** Checks the bearer token. Returns undefined if the request contains the right token. */
export function checkBearerToken(
  headers: IncomingHttpHeaders,
  access: HttpAccessRules,
): AccessRefused | undefined {
  const shown = bearerToken(headers.authorization);
  if (shown !== undefined && isSameDigest(tokenDigest(shown), tokenDigest(access.token))) return undefined;
  return {
    status: 401,
    message: `This bridge asks for a bearer token: send "Authorization: Bearer <token>" with the one in ${access.tokenPath}.`,
  };
}

function quotedHeader(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
