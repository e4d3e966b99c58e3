/**
 * The limits of a server: what it counts, and how many of each a principal, a tenant and all principals together may
 * have.
 * docs/limits.md describes them. Pure.
 */
import { ProductError } from '../../shared/runtime/errors.ts';

/** The most that one principal, one tenant, and all principals together may have at a time on one server. */
export interface Limit {
  principal: number;
  /** The most that all principals of one tenant may have together. Without it, only the server's limit bounds them. */
  tenant?: number;
  server: number;
}

export interface LimitDefinition extends Limit {
  /** The name of the counted things, in the plural, for messages. */
  what: string;
  /** The time after which a refused client should try again, in seconds. */
  retryAfterS: number;
}

/** The limit of a principal is below that of the server, so that one principal alone cannot fill a server. */
export const LIMITS = {
  requests: { what: 'open requests', principal: 200, server: 1_000, retryAfterS: 1 },
  streams: { what: 'open event streams', principal: 1_000, server: 4_000, retryAfterS: 5 },
  /** A task above this limit waits for its turn. */
  executions: { what: 'running tasks', principal: 32, server: 64, retryAfterS: 30 },
  queuedTasks: { what: 'tasks that wait for their turn', principal: 1_000, server: 10_000, retryAfterS: 10 },
} as const satisfies Readonly<Record<string, LimitDefinition>>;

export type LimitName = keyof typeof LIMITS;

/** The limits that refuse requests. A task above the limit of executions waits instead. */
export const REFUSING_LIMITS: readonly LimitName[] = ['requests', 'streams', 'queuedTasks'];

/** The limits of one server, as its settings say. */
export type Limits = Readonly<Record<LimitName, Limit>>;

export const LIMIT_SCOPES = ['principal', 'tenant', 'server'] as const;
/** Whose limit is reached. */
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/**
 * Returns whose limit is reached, the narrowest first. Undefined if there is a place for one more.
 * @param used what is used now; without `tenant` if the principal has no tenant
 */
export function reachedLimit(used: Limit, limit: Limit): LimitScope | undefined {
  if (used.principal >= limit.principal) return 'principal';
  if (used.tenant !== undefined && limit.tenant !== undefined && used.tenant >= limit.tenant) return 'tenant';
  return used.server >= limit.server ? 'server' : undefined;
}

/** Returns the lower of two limits in each scope. */
export function lowerOf(one: Limit, other: Limit): Limit {
  const tenant = Math.min(one.tenant ?? Infinity, other.tenant ?? Infinity);
  return {
    principal: Math.min(one.principal, other.principal),
    ...(Number.isFinite(tenant) && { tenant }),
    server: Math.min(one.server, other.server),
  };
}

const HOLDERS: Readonly<Record<LimitScope, string>> = {
  principal: 'You have',
  tenant: 'Your tenant has',
  server: 'This server has',
};

/** Returns the error that refuses one more. The caller has changed nothing. */
export function limitRefusal(name: LimitName, scope: LimitScope, limit: Limit): ProductError {
  const { what, retryAfterS } = LIMITS[name];
  const most = limit[scope] ?? limit.server;
  const facts = { limit: name, scope, most: String(most), retryAfter: String(retryAfterS) };
  const again = `Nothing was changed. Send the same request again in ${String(retryAfterS)} s.`;
  const has = `${HOLDERS[scope]} ${String(most)} ${what}`;
  return scope === 'server'
    ? new ProductError('OVERLOADED', `${has}, its limit. ${again}`, { facts })
    : new ProductError('LIMIT_REACHED', `${has}, the limit of this server. ${again}`, { facts });
}
