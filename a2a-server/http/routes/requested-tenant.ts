/**
 * Checks the tenant that a request names (A2A 1.0: the field `tenant`, or the first segment of the path,
 * `/{tenant}/tasks`). The caller's token determines its only tenant. The request may repeat this tenant. The server
 * answers a request with any other tenant as a request to an unknown address.
 */
import type { Request, RequestHandler } from 'express';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { isRecord } from '../../../shared/runtime/record.ts';
import { tenantOf } from '../../access/requester.ts';
import { parseA2aVersion } from '../wire/json-rpc-envelope.ts';
import { accessRequirementOf } from './methods-and-roles.ts';
import { callerOf } from '../auth/caller.ts';

/** The addresses of a2a.proto that have an `additional_bindings` with `/{tenant=*}`. */
const TENANT_PATH = /^\/([^/]+)(\/(?:message:(?:send|stream)|tasks|tasks\/.+|extendedAgentCard))$/;

const tenantsOfPaths = new WeakMap<Request, string>();

/** Removes the tenant from the path, so that the routes find the address. Runs before the authentication. */
export const stripTenantPath: RequestHandler = (request, _response, next) => {
  const [, segment, rest] = TENANT_PATH.exec(request.path) ?? [];
  const known = accessRequirementOf(request.method, request.path) !== undefined;
  // A2A 0.3 has no tenants.
  const { legacy } = parseA2aVersion(request.header('A2A-Version'));
  if (segment === undefined || rest === undefined || known || legacy) return next();
  tenantsOfPaths.set(request, decodeSegment(segment));
  request.url = `${rest}${request.url.slice(request.path.length)}`;
  next();
};

/** Checks the tenant of the path and of the query. @throws ProductError UNKNOWN_ADDRESS */
export const checkTenantPath: RequestHandler = (request, _response, next) => {
  requireOwnTenant(callerOf(request).principal, { tenant: tenantsOfPaths.get(request) });
  requireOwnTenant(callerOf(request).principal, request.query);
  next();
};

/** Checks the field `tenant` of parameters or of a body. @throws ProductError UNKNOWN_ADDRESS */
export function requireOwnTenant(principal: string, params: unknown): void {
  const tenant = isRecord(params) ? params['tenant'] : undefined;
  // ProtoJSON: null and the empty text are the same as an absent field.
  if (tenant === undefined || tenant === null || tenant === '' || tenant === tenantOf(principal)) return;
  throw new ProductError('UNKNOWN_ADDRESS', 'There is no such tenant.');
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
