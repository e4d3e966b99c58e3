/** The server's addresses and their methods, for the answers 404 and 405 (RFC 9110 §15.5.5, §15.5.6). */
import { AGENT_CARD_PATH } from '@a2a-js/sdk';
import { IDENTITY_PATH } from '../../../shared/net/server-proof.ts';

/** The path of requests that use the approval page's session instead of a bearer token. */
export const PAGE_API = '/page/api';

/** The methods of each address. `{id}` matches one path segment. */
type Addresses = Readonly<Record<string, readonly string[]>>;

/** The addresses for tasks, tools and costs. They also exist under the path of the approval page. */
const WORK: Addresses = {
  '/message:send': ['POST'],
  '/message:stream': ['POST'],
  '/tasks': ['GET'],
  '/tasks/{id}': ['GET'],
  '/tasks/{id}:cancel': ['POST'],
  '/tasks/{id}:subscribe': ['GET', 'POST'],
  '/tasks/{id}/pushNotificationConfigs': ['GET', 'POST'],
  '/tasks/{id}/pushNotificationConfigs/{id}': ['GET', 'DELETE'],
  '/extendedAgentCard': ['GET'],
  '/api/costs': ['GET'],
  '/api/tasks/{id}/files/{id}': ['GET'],
  '/api/tools': ['GET'],
  '/api/tools/abort/{id}': ['POST'],
};

const ADDRESSES: Addresses = {
  ...WORK,
  ...Object.fromEntries(Object.entries(WORK).map(([path, methods]) => [`${PAGE_API}${path}`, methods])),
  [`${PAGE_API}/workspaces`]: ['GET'],
  '/': ['GET', 'POST'],
  [`/${AGENT_CARD_PATH}`]: ['GET'],
  '/health': ['GET'],
  [IDENTITY_PATH]: ['GET'],
  '/page': ['GET'],
  '/page.js': ['GET'],
  '/page.css': ['GET'],
  '/page/links': ['POST'],
  '/page/session': ['POST'],
  '/page/sign-out': ['POST'],
  '/api/commands': ['GET'],
  '/api/tasks': ['GET'],
  '/api/tasks/{id}/events': ['GET'],
  '/api/tasks/{id}/events/ticket': ['POST'],
};

/** The addresses of A2A 0.3 over HTTP+JSON. */
const LEGACY: Addresses = {
  '/v1/card': ['GET'],
  '/v1/message:send': ['POST'],
  '/v1/message:stream': ['POST'],
  '/v1/tasks/{id}': ['GET'],
  '/v1/tasks/{id}:cancel': ['POST'],
  '/v1/tasks/{id}:subscribe': ['GET', 'POST'],
  '/v1/tasks/{id}/pushNotificationConfigs': ['GET', 'POST'],
  '/v1/tasks/{id}/pushNotificationConfigs/{id}': ['GET', 'DELETE'],
};

/** @returns the methods of the address; empty if the address does not exist in this version of A2A. */
export function allowedMethods(path: string, version: string): string[] {
  const known = version === '0.3' ? { ...ADDRESSES, ...LEGACY } : ADDRESSES;
  const methods = Object.entries(known).find(([address]) => patternOf(address).test(path))?.[1] ?? [];
  // RFC 9110 §9.3.2: an address that supports GET supports HEAD.
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

function patternOf(address: string): RegExp {
  return new RegExp(`^${address.replaceAll('.', String.raw`\.`).replaceAll('{id}', '[^/:]+')}$`);
}
