/**
 * The limits of a server: what it counts, and how many of each a principal and all principals together may have.
 * docs/limits.md describes them. Pure.
 */
import { ProductError } from '../../shared/runtime/errors.ts';

/** The most that one principal, and all principals together, may have at a time on one server. */
export interface Limit {
  principal: number;
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

export const LIMIT_SCOPES = ['principal', 'server'] as const;
/** Whose limit is reached. */
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/**
 * Returns which limit is reached: that of the principal or that of the server. Undefined if there is a place for one
 * more.
 */
export function reachedLimit(used: Limit, limit: Limit): LimitScope | undefined {
  if (used.principal >= limit.principal) return 'principal';
  return used.server >= limit.server ? 'server' : undefined;
}

/** Returns the error that refuses one more. The caller has changed nothing. */
export function limitRefusal(name: LimitName, scope: LimitScope, limit: Limit): ProductError {
  const { what, retryAfterS } = LIMITS[name];
  const most = limit[scope];
  const facts = { limit: name, scope, most: String(most), retryAfter: String(retryAfterS) };
  const again = `Nothing was changed. Send the same request again in ${String(retryAfterS)} s.`;
  return scope === 'principal'
    ? new ProductError(
        'LIMIT_REACHED',
        `You have ${String(most)} ${what}, the limit of this server. ${again}`,
        {
          facts,
        },
      )
    : new ProductError('OVERLOADED', `This server has ${String(most)} ${what}, its limit. ${again}`, {
        facts,
      });
}
