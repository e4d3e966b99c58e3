/**
 * Decides which tasks a request may use. A principal of a tenant has the name `tenant/name`, so the journal keeps the
 * tasks of two tenants apart. With some roles, a requester may also use the tasks of the other principals of its
 * tenant. Pure.
 */
import { requireRole, type Role } from './role.ts';

/** The characters of a principal's name within its tenant, of a tenant's name, and of a group's name. */
export const IDENTITY_NAME_PATTERN = /^[\w.@-]{1,100}$/;

/** The full name of a principal: `name`, or `tenant/name`. */
export const PRINCIPAL_PATTERN = /^(?:[\w.@-]{1,100}\/)?[\w.@-]{1,100}$/;

/** The sender of a request, with the tasks that it may use. */
export interface Requester {
  /** The full name of the principal: `name`, or `tenant/name`. */
  principal: string;
  /** The groups of the requester's token. Absent if the token has no groups. */
  groups?: readonly string[];
  /** The tenant and the roles. Present if the requester may also use the tasks of other principals of its tenant. */
  sharing?: Sharing;
}

interface Sharing {
  tenant: string;
  roles: readonly Role[];
}

/**
 * The roles with which a requester sees the tasks of its whole tenant. With `delegate` alone, a requester sees only its
 * own tasks.
 */
const SHARING_ROLES: readonly Role[] = ['approve', 'operate', 'read'];

/** Returns the full name of a principal: `name`, or `tenant/name`. */
export function fullPrincipalName(name: string, tenant: string | undefined): string {
  return tenant === undefined ? name : `${tenant}/${name}`;
}

/** Returns the tenant of a principal. Undefined if it has none. */
export function tenantOf(principal: string): string | undefined {
  const end = principal.indexOf('/');
  return end === -1 ? undefined : principal.slice(0, end);
}

export function createRequester(
  principal: string,
  roles: readonly Role[],
  groups: readonly string[] = [],
): Requester {
  const tenant = tenantOf(principal);
  return {
    principal,
    ...(groups.length > 0 && { groups }),
    ...(tenant !== undefined &&
      SHARING_ROLES.some((role) => roles.includes(role)) && { sharing: { tenant, roles } }),
  };
}

/** True if the requester may see the tasks of `owner`. For other requesters, these tasks do not exist. */
export function maySeeTasksOf({ principal, sharing }: Requester, owner: string): boolean {
  return owner === principal || (sharing !== undefined && tenantOf(owner) === sharing.tenant);
}

/**
 * Checks the role that an action on a task of another principal needs. For the requester's own tasks, the role of the
 * route is enough.
 * @throws ProductError FORBIDDEN
 */
export function requireOwnerOrRole({ principal, sharing }: Requester, owner: string, needed: Role): void {
  if (owner !== principal) requireRole(sharing?.roles ?? [], [needed]);
}

/** Returns the filter for the journal that selects the tasks which the requester may see. */
export function visibleTasksFilter({ principal, sharing }: Requester): {
  principal: string;
  tenant?: string;
} {
  return { principal, ...(sharing && { tenant: sharing.tenant }) };
}
