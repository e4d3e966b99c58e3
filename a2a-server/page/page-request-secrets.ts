/**
 * Reads the two secrets of a request from the approval page: a cookie that scripts cannot read, and the page key in a
 * header. A page of another origin cannot send this header, because the server refuses the browser's CORS preflight.
 * Also refuses requests that come from the pages of other sites.
 */
import { createHmac } from 'node:crypto';
import type { CookieOptions, Request } from 'express';
import { isOwnOrigin } from '../../shared/net/is-own-origin.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { PageSessionSecrets } from './page-sessions.ts';

const PAGE_KEY_HEADER = 'X-Page-Key';

/** RFC 9110 §9.3.2: HEAD is GET without the content, so browsers treat both alike. */
const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

const SECRET = /^[A-Za-z0-9_-]{43}$/;

export interface PageCookieAttributes {
  name: string;
  options: CookieOptions;
}

/**
 * @param base the server's URL for clients, without a final slash
 * @param secret gives each server on a host its own cookie name, because all ports share cookies. Servers with the same
 * secret share their cookies.
 */
export function pageCookieAttributes(base: string, secret: string): PageCookieAttributes {
  const { pathname, protocol } = new URL(`${base}/page`);
  const server = createHmac('sha256', secret).update('page cookie').digest('hex').slice(0, 8);
  return {
    name: `approvals-${server}`,
    options: { httpOnly: true, sameSite: 'strict', path: pathname, secure: protocol === 'https:' },
  };
}

/** Returns the cookie of an attempt to sign in with the provider. Only the routes of that sign-in get it. */
export function signInAttemptCookieAttributes({ name, options }: PageCookieAttributes): PageCookieAttributes {
  return { name: `${name}-provider`, options: { ...options, path: `${options.path}/provider` } };
}

export function readCookie(request: Request, { name }: PageCookieAttributes): string | undefined {
  // A Cookie header has pairs, separated by a semicolon and a space (RFC 6265 §5.4).
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Reads the secrets of a request. Returns undefined if a secret is missing or malformed. */
export function readPageSessionSecrets(
  request: Request,
  attributes: PageCookieAttributes,
): PageSessionSecrets | undefined {
  const cookie = readCookie(request, attributes) ?? '';
  const pageKey = request.header(PAGE_KEY_HEADER) ?? '';
  return SECRET.test(cookie) && SECRET.test(pageKey) ? { cookie, pageKey } : undefined;
}

/**
 * Refuses requests that do not come from this server's own page. Browsers name the page's origin in the header Origin.
 * The page's origin is the address of the request or, behind a proxy, the public address. For a same-origin GET or
 * HEAD, browsers send Sec-Fetch-Site instead.
 * @param base the URL of the server for the browser
 * @throws ProductError FORBIDDEN
 */
export function requireOwnPage(request: Request, base: string): void {
  const origin = request.header('Origin');
  const site = request.header('Sec-Fetch-Site');
  const isOwn = origin === new URL(base).origin || isOwnOrigin(origin ?? '', request.headers.host);
  const foreign = (origin !== undefined && !isOwn) || (site !== undefined && site !== 'same-origin');
  const unnamed = origin === undefined && !READING_METHODS.has(request.method);
  if (foreign || unnamed)
    throw new ProductError(
      'FORBIDDEN',
      'Only the approval page of this server may use its sign-in. Programs send a bearer token.',
    );
}
