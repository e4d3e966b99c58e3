import { AGENT_CARD_PATH } from '@a2a-js/sdk';
import { isLegacyJsonRpcMethod, legacyJsonRpcToV1Method } from '@a2a-js/sdk/compat/v0_3';
import { IDENTITY_PATH } from '../../../shared/net/server-proof.ts';
import { ROLES, type Role, SENDING_ROLES } from '../../access/role.ts';
import { PUSH_KEYS_PATH } from '../push/push-routes.ts';
import { OLD_AGENT_CARD_PATH } from './agent-card-route.ts';

/** The path of the approval page's requests. They use the page's session instead of a bearer token. */
export const PAGE_API_PATH = '/page/api';

/** What a request needs: one of these roles, or nothing at a public address. */
type AccessRequirement = 'public' | readonly Role[];

const READING_ROLES: readonly Role[] = ROLES;
const STOPPING_ROLES: readonly Role[] = ['delegate', 'operate'];

/** The methods of each address, and the roles that each method needs. `{id}` matches one path segment. */
type RolesByAddress = Readonly<Record<string, Readonly<Record<string, AccessRequirement>>>>;

/** The addresses for work on tasks. They also exist below PAGE_API_PATH. */
const WORK_ADDRESSES: RolesByAddress = {
  '/message:send': { POST: SENDING_ROLES },
  '/message:stream': { POST: SENDING_ROLES },
  '/tasks': { GET: READING_ROLES },
  '/tasks/{id}': { GET: READING_ROLES },
  '/tasks/{id}:cancel': { POST: STOPPING_ROLES },
  '/tasks/{id}:subscribe': { GET: READING_ROLES, POST: READING_ROLES },
  '/tasks/{id}/pushNotificationConfigs': { GET: READING_ROLES, POST: ['delegate'] },
  '/tasks/{id}/pushNotificationConfigs/{id}': { GET: READING_ROLES, DELETE: ['delegate'] },
  '/extendedAgentCard': { GET: READING_ROLES },
  '/api/costs': { GET: READING_ROLES },
  '/api/tasks/{id}/calls/{id}/input-schema': { GET: READING_ROLES },
  '/api/tasks/{id}/checkpoints': { GET: READING_ROLES },
  '/api/tasks/{id}/checkpoints/{id}': { GET: READING_ROLES },
  '/api/tasks/{id}/costs': { GET: READING_ROLES },
  '/api/tasks/{id}/files/{id}': { GET: READING_ROLES },
  '/api/tasks/{id}/receipt': { GET: READING_ROLES },
  '/api/tasks/{id}/story': { GET: READING_ROLES },
  '/api/receipt-key': { GET: READING_ROLES },
  '/api/tools': { GET: READING_ROLES },
  '/api/tools/abort/{id}': { POST: STOPPING_ROLES },
};

const ADDRESSES: RolesByAddress = {
  ...WORK_ADDRESSES,
  ...Object.fromEntries(
    Object.entries(WORK_ADDRESSES).map(([path, methods]) => [`${PAGE_API_PATH}${path}`, methods]),
  ),
  [`${PAGE_API_PATH}/agent`]: { GET: READING_ROLES },
  [`${PAGE_API_PATH}/workspaces`]: { GET: READING_ROLES },
  [`${PAGE_API_PATH}/passkeys`]: { GET: READING_ROLES, POST: ['approve'] },
  [`${PAGE_API_PATH}/passkeys/registration`]: { POST: ['approve'] },
  [`${PAGE_API_PATH}/passkeys/challenge`]: { POST: ['approve'] },
  [`${PAGE_API_PATH}/passkeys/page-link`]: { POST: READING_ROLES },
  [`${PAGE_API_PATH}/passkeys/{id}`]: { DELETE: ['approve'] },
  [`${PAGE_API_PATH}/task-groups`]: { GET: READING_ROLES },
  [`${PAGE_API_PATH}/task-groups/{id}`]: { GET: READING_ROLES },
  [`${PAGE_API_PATH}/task-changes`]: { GET: READING_ROLES },
  '/': { GET: 'public', POST: READING_ROLES },
  [`/${AGENT_CARD_PATH}`]: { GET: 'public' },
  [`/${OLD_AGENT_CARD_PATH}`]: { GET: 'public' },
  [PUSH_KEYS_PATH]: { GET: 'public' },
  '/health': { GET: READING_ROLES },
  '/livez': { GET: 'public' },
  '/readyz': { GET: 'public' },
  [IDENTITY_PATH]: { GET: 'public' },
  '/page': { GET: 'public' },
  '/page.js': { GET: 'public' },
  '/page.css': { GET: 'public' },
  '/page.webmanifest': { GET: 'public' },
  '/page-icon.svg': { GET: 'public' },
  '/page-icon-192.png': { GET: 'public' },
  '/page-icon-512.png': { GET: 'public' },
  '/page/links': { POST: READING_ROLES },
  '/page/session': { POST: 'public' },
  '/page/sign-out': { POST: 'public' },
  '/page/provider': { GET: 'public' },
  '/page/provider/start': { POST: 'public' },
  '/page/provider/finish': { POST: 'public' },
  '/api/commands': { GET: READING_ROLES },
  '/api/push/failing': { GET: ['operate'] },
  '/api/push/retry/{id}': { POST: ['operate'] },
  '/api/tasks': { GET: READING_ROLES },
  '/api/tasks/{id}/events': { GET: READING_ROLES },
  '/api/tasks/{id}/events/ticket': { POST: READING_ROLES },
};

const LEGACY_ADDRESSES: RolesByAddress = {
  '/v1/card': { GET: READING_ROLES },
  '/v1/message:send': { POST: SENDING_ROLES },
  '/v1/message:stream': { POST: SENDING_ROLES },
  '/v1/tasks/{id}': { GET: READING_ROLES },
  '/v1/tasks/{id}:cancel': { POST: STOPPING_ROLES },
  '/v1/tasks/{id}:subscribe': { GET: READING_ROLES, POST: READING_ROLES },
  '/v1/tasks/{id}/pushNotificationConfigs': { GET: READING_ROLES, POST: ['delegate'] },
  '/v1/tasks/{id}/pushNotificationConfigs/{id}': { GET: READING_ROLES, DELETE: ['delegate'] },
};

/** Every address with its methods. `{id}` stands for an id. */
export const ALL_ADDRESSES: RolesByAddress = { ...ADDRESSES, ...LEGACY_ADDRESSES };

/**
 * Returns the methods of the address, so that the server can choose between 404 and 405 (RFC 9110 §15.5.5, §15.5.6).
 * The list is empty if the address does not exist in this version of A2A.
 */
export function allowedMethods(path: string, version: string): string[] {
  const address = findRoutePattern(path);
  const known = version === '0.3' ? ALL_ADDRESSES : ADDRESSES;
  const methods = address === undefined ? [] : Object.keys(known[address] ?? {});
  // RFC 9110 §9.3.2: an address that supports GET supports HEAD.
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/**
 * Returns what a request needs. Undefined if this table does not have the address or the method. X1: such a request
 * reaches no route. So a new route without an entry here answers no request.
 */
export function accessRequirementOf(method: string, path: string): AccessRequirement | undefined {
  const address = findRoutePattern(path);
  return address === undefined ? undefined : ALL_ADDRESSES[address]?.[method === 'HEAD' ? 'GET' : method];
}

/** The roles that each method of JSON-RPC needs, by its name in A2A 1.0. */
const ROLES_BY_METHOD: Readonly<Record<string, readonly Role[]>> = {
  SendMessage: SENDING_ROLES,
  SendStreamingMessage: SENDING_ROLES,
  GetTask: READING_ROLES,
  ListTasks: READING_ROLES,
  CancelTask: STOPPING_ROLES,
  SubscribeToTask: READING_ROLES,
  CreateTaskPushNotificationConfig: ['delegate'],
  GetTaskPushNotificationConfig: READING_ROLES,
  ListTaskPushNotificationConfigs: READING_ROLES,
  DeleteTaskPushNotificationConfig: ['delegate'],
  GetExtendedAgentCard: READING_ROLES,
};

/**
 * Returns the roles that allow a JSON-RPC method. The caller needs one of them. No role allows a method without an
 * entry.
 */
export function rolesForMethod(method: string): readonly Role[] {
  const name = isLegacyJsonRpcMethod(method) ? legacyJsonRpcToV1Method(method) : method;
  return name !== undefined && Object.hasOwn(ROLES_BY_METHOD, name) ? (ROLES_BY_METHOD[name] ?? []) : [];
}

/** Returns the pattern of a path's address, e.g. `/tasks/{id}`. Undefined for an unknown address. */
export function findRoutePattern(path: string): string | undefined {
  // Most requests name an address without an id. For them, this look-up replaces the search.
  if (Object.hasOwn(ALL_ADDRESSES, path) && !path.includes('{')) return path;
  return PATTERNS.find(({ pattern }) => pattern.test(path))?.address;
}

const PATTERNS = Object.keys(ALL_ADDRESSES).map((address) => ({
  address,
  pattern: new RegExp(`^${address.replaceAll('.', String.raw`\.`).replaceAll('{id}', '[^/:]+')}/?$`, 'i'),
}));
