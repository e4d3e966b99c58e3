/**
 * Defines the limits of a server: how many requests, tasks and events one principal, one tenant and all principals may
 * have. docs/limits.md describes them. Pure.
 */
import { getHeapStatistics } from 'node:v8';
import { ProductError } from '../../shared/runtime/errors.ts';

/** A limit or a current count in each scope: for one principal, for its tenant, and for all principals together. */
export interface CountsByScope {
  principal: number;
  /** The number for all principals of one tenant together. Without this number, a tenant has no limit of its own. */
  tenant?: number;
  server: number;
}

interface LimitDefinition extends CountsByScope {
  /** The name of what the limit counts, for error messages. `what` is the plural, `one` the singular. */
  what: string;
  one: string;
  /** The time after which a refused client should try again, in seconds. */
  retryAfterS: number;
}

/**
 * The maximum size of the unread responses of all principals together, in megabytes: a quarter of Node's heap limit.
 * The incomplete request bodies have the same limit, counted separately.
 */
const MAX_SHARED_MEGABYTES = Math.floor(getHeapStatistics().heap_size_limit / 2 ** 22);

/** The limit of a principal is below that of the server, so that one principal alone cannot fill a server. */
export const LIMITS = {
  requests: {
    what: 'open requests',
    one: 'open request',
    principal: 200,
    server: 1_000,
    retryAfterS: 1,
  },
  streams: {
    what: 'open event streams',
    one: 'open event stream',
    principal: 1_000,
    server: 4_000,
    retryAfterS: 5,
  },
  /** The maximum number of running tasks. A further task waits for a slot. */
  executions: { what: 'running tasks', one: 'running task', principal: 32, server: 64, retryAfterS: 30 },
  queuedTasks: {
    what: 'tasks that wait for their turn',
    one: 'task that waits for its turn',
    principal: 1_000,
    server: 10_000,
    retryAfterS: 10,
  },
  /** `daily-writing.ts` checks the daily limits. A daily limit applies to all servers of a database together. */
  dailyEvents: {
    what: 'events written today (UTC)',
    one: 'event written today (UTC)',
    principal: 50_000_000,
    server: 200_000_000,
    retryAfterS: 3_600,
  },
  dailyMegabytes: {
    what: 'MB of events written today (UTC)',
    one: 'MB of events written today (UTC)',
    principal: 10_000,
    server: 50_000,
    retryAfterS: 3_600,
  },
  bodyMegabytes: {
    what: 'MB of incomplete request bodies',
    one: 'MB of incomplete request bodies',
    principal: 64,
    server: MAX_SHARED_MEGABYTES,
    retryAfterS: 1,
  },
  /** Above this limit, a response is closed. One response may be larger than the limit. */
  unreadMegabytes: {
    what: 'MB of unread responses',
    one: 'MB of unread responses',
    principal: 64,
    server: MAX_SHARED_MEGABYTES,
    retryAfterS: 1,
  },
} as const satisfies Readonly<Record<string, LimitDefinition>>;

export type LimitName = keyof typeof LIMITS;

/** The limits that refuse requests. A task above the limit of executions waits instead of being refused. */
export const REFUSING_LIMITS: readonly LimitName[] = [
  'requests',
  'streams',
  'queuedTasks',
  'dailyEvents',
  'dailyMegabytes',
  'bodyMegabytes',
  'unreadMegabytes',
];

/** The maximum size of one task. Above it, the task fails between two turns of its model. */
interface TaskSizeLimit {
  events: number;
  megabytes: number;
}

export const DEFAULT_TASK_LIMIT: TaskSizeLimit = { events: 10_000_000, megabytes: 1_000 };

/** The limits of one server, as its settings say. The limits of bytes in memory have no setting. */
export type Limits = Readonly<
  Record<Exclude<LimitName, 'bodyMegabytes' | 'unreadMegabytes'>, CountsByScope>
> & { readonly task: TaskSizeLimit };

export const LIMIT_SCOPES = ['principal', 'tenant', 'server'] as const;
/** The level at which a limit is reached: principal, tenant or server. */
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/**
 * Returns the narrowest level whose limit is reached. Undefined if one more is allowed.
 * @param used the current counts; without `tenant` if the principal has no tenant
 */
export function reachedLimitScope(used: CountsByScope, limit: CountsByScope): LimitScope | undefined {
  if (used.principal >= limit.principal) return 'principal';
  if (used.tenant !== undefined && limit.tenant !== undefined && used.tenant >= limit.tenant) return 'tenant';
  return used.server >= limit.server ? 'server' : undefined;
}

/** Returns the lower of two limits in each scope. */
export function minCounts(one: CountsByScope, other: CountsByScope): CountsByScope {
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

/** Returns a text such as `3 running tasks`. */
export function limitCountText(name: LimitName, number: number): string {
  return `${number} ${number === 1 ? LIMITS[name].one : LIMITS[name].what}`;
}

/**
 * Returns the error for one request above the limit. It says that nothing was changed, so the caller must not have
 * changed anything.
 * @param retryAfterS the default is that of the limit's definition
 */
export function limitRefusal(
  { name, scope, limit }: { name: LimitName; scope: LimitScope; limit: CountsByScope },
  retryAfterS: number = LIMITS[name].retryAfterS,
): ProductError {
  const most = limit[scope] ?? limit.server;
  const facts = { limit: name, scope, most: String(most), retryAfter: String(retryAfterS) };
  const again = `Nothing was changed. Send the same request again in ${String(retryAfterS)} s.`;
  const has = `${HOLDERS[scope]} ${limitCountText(name, most)}`;
  return scope === 'server'
    ? new ProductError('OVERLOADED', `${has}, its limit. ${again}`, { facts })
    : new ProductError('LIMIT_REACHED', `${has}, the limit of this server. ${again}`, { facts });
}
