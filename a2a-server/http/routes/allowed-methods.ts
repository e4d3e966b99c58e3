import { AGENT_CARD_PATH } from '@a2a-js/sdk';
import { IDENTITY_PATH } from '../../../shared/net/server-proof.ts';

/** Requests below this path use the approval page's session instead of a bearer token. */
export const PAGE_API = '/page/api';

/** The methods of each address. `{id}` matches one path segment. */
type Addresses = Readonly<Record<string, readonly string[]>>;

/** These addresses also exist below PAGE_API. */
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
  '/api/tasks/{id}/calls/{id}/input-schema': ['GET'],
  '/api/tasks/{id}/checkpoints': ['GET'],
  '/api/tasks/{id}/checkpoints/{id}': ['GET'],
  '/api/tasks/{id}/costs': ['GET'],
  '/api/tasks/{id}/files/{id}': ['GET'],
  '/api/tasks/{id}/receipt': ['GET'],
  '/api/tasks/{id}/story': ['GET'],
  '/api/receipt-key': ['GET'],
  '/api/tools': ['GET'],
  '/api/tools/abort/{id}': ['POST'],
};

const ADDRESSES: Addresses = {
  ...WORK,
  ...Object.fromEntries(Object.entries(WORK).map(([path, methods]) => [`${PAGE_API}${path}`, methods])),
  [`${PAGE_API}/agent`]: ['GET'],
  [`${PAGE_API}/workspaces`]: ['GET'],
  [`${PAGE_API}/passkeys`]: ['GET', 'POST'],
  [`${PAGE_API}/passkeys/registration`]: ['POST'],
  [`${PAGE_API}/passkeys/challenge`]: ['POST'],
  [`${PAGE_API}/passkeys/page-link`]: ['POST'],
  [`${PAGE_API}/passkeys/{id}`]: ['DELETE'],
  [`${PAGE_API}/task-groups`]: ['GET'],
  [`${PAGE_API}/task-groups/{id}`]: ['GET'],
  [`${PAGE_API}/task-changes`]: ['GET'],
  '/': ['GET', 'POST'],
  [`/${AGENT_CARD_PATH}`]: ['GET'],
  '/health': ['GET'],
  '/livez': ['GET'],
  '/readyz': ['GET'],
  [IDENTITY_PATH]: ['GET'],
  '/page': ['GET'],
  '/page.js': ['GET'],
  '/page.css': ['GET'],
  '/page.webmanifest': ['GET'],
  '/page-icon.svg': ['GET'],
  '/page-icon-192.png': ['GET'],
  '/page-icon-512.png': ['GET'],
  '/page/links': ['POST'],
  '/page/session': ['POST'],
  '/page/sign-out': ['POST'],
  '/api/commands': ['GET'],
  '/api/tasks': ['GET'],
  '/api/tasks/{id}/events': ['GET'],
  '/api/tasks/{id}/events/ticket': ['POST'],
};

const LEGACY_ADDRESSES: Addresses = {
  '/v1/card': ['GET'],
  '/v1/message:send': ['POST'],
  '/v1/message:stream': ['POST'],
  '/v1/tasks/{id}': ['GET'],
  '/v1/tasks/{id}:cancel': ['POST'],
  '/v1/tasks/{id}:subscribe': ['GET', 'POST'],
  '/v1/tasks/{id}/pushNotificationConfigs': ['GET', 'POST'],
  '/v1/tasks/{id}/pushNotificationConfigs/{id}': ['GET', 'DELETE'],
};

/**
 * Returns the methods of the address, so that the server can choose between 404 and 405 (RFC 9110 §15.5.5, §15.5.6).
 * The list is empty if the address does not exist in this version of A2A.
 */
export function allowedMethods(path: string, version: string): string[] {
  const known = version === '0.3' ? { ...ADDRESSES, ...LEGACY_ADDRESSES } : ADDRESSES;
  const address = addressPattern(path, known);
  const methods = address === undefined ? [] : (known[address] ?? []);
  // RFC 9110 §9.3.2: an address that supports GET supports HEAD.
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** Returns the pattern of a path's address, e.g. `/tasks/{id}`. Undefined for an unknown address. */
export function addressPattern(
  path: string,
  known: Addresses = { ...ADDRESSES, ...LEGACY_ADDRESSES },
): string | undefined {
  return Object.keys(known).find((address) => patternOf(address).test(path));
}

const patterns = new Map<string, RegExp>();

function patternOf(address: string): RegExp {
  const pattern =
    patterns.get(address) ??
    new RegExp(`^${address.replaceAll('.', String.raw`\.`).replaceAll('{id}', '[^/:]+')}$`);
  patterns.set(address, pattern);
  return pattern;
}
