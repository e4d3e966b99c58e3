/**
 * Limits how much a task writes to the journal in total. Also limits how much a principal, a tenant and all principals
 * write on one UTC day. Above a daily limit, the server refuses new messages. A running task stops between two turns of
 * its model and asks a person. Pure.
 */
import type { ProductError } from '../../shared/runtime/errors.ts';
import type { DailyWrittenByScope, WrittenAmount } from '../journal/written-amounts.ts';
import { utcDayText, utcDay } from '../task/costs/cost-sum.ts';
import {
  limitCountText,
  type CountsByScope,
  type LimitName,
  type Limits,
  limitRefusal,
  type LimitScope,
  reachedLimitScope,
} from './limits.ts';

export type WritingLimits = Pick<Limits, 'dailyEvents' | 'dailyMegabytes' | 'task'>;

type DailyLimitName = Extract<LimitName, 'dailyEvents' | 'dailyMegabytes'>;

/** A daily limit that is reached. */
export interface ReachedDailyLimit {
  name: DailyLimitName;
  scope: LimitScope;
  limit: CountsByScope;
}

const BYTES_PER_MEGABYTE = 1_000_000;
const DAY_MS = 86_400_000;

/** Returns the reached daily limit. Undefined if the principal may write more today. */
export function reachedDailyLimit(
  use: DailyWrittenByScope,
  limits: WritingLimits,
): ReachedDailyLimit | undefined {
  for (const name of ['dailyEvents', 'dailyMegabytes'] as const) {
    const scope = reachedLimitScope(usedOf(use, name), limits[name]);
    if (scope !== undefined) return { name, scope, limit: limits[name] };
  }
  return undefined;
}

/**
 * Returns the error for a refused message. It names the time until the next UTC day.
 * @param now milliseconds since 1970
 */
export function dailyLimitError({ name, scope, limit }: ReachedDailyLimit, now: number): ProductError {
  return limitRefusal({ name, scope, limit }, Math.ceil((DAY_MS - (now % DAY_MS)) / 1_000));
}

const HOLDERS: Readonly<Record<LimitScope, string>> = {
  principal: 'Your tasks have',
  tenant: 'The tasks of your tenant have',
  server: 'The tasks of this server have',
};

/** Returns the question that a running task asks when a daily limit is reached. */
export function dailyLimitQuestion({ name, scope, limit }: ReachedDailyLimit, now: number): string {
  return `${HOLDERS[scope]} ${limitCountText(name, limit[scope] ?? limit.server)}, the limit of the server. What this task did so far is kept. Reply after ${utcDayText(utcDay(now) + 1)} 00:00 UTC to continue, or cancel the task.`;
}

/** Returns the reason why a task of this size fails. Undefined if it may write more. */
export function taskSizeProblem(size: WrittenAmount, { task }: WritingLimits): string | undefined {
  const reached =
    size.events >= task.events
      ? `${String(task.events)} events`
      : size.bytes >= task.megabytes * BYTES_PER_MEGABYTE
        ? `${String(task.megabytes)} MB`
        : undefined;
  return (
    reached &&
    `The task has written ${reached}, the limit of the server for one task. To continue, send another message in its session.`
  );
}

/** Returns how many bytes a turn of the task may write until it reaches a limit. */
export function bytesLeftToWrite(
  size: WrittenAmount,
  use: DailyWrittenByScope,
  { task, dailyMegabytes }: WritingLimits,
): number {
  const pairs: [WrittenAmount | undefined, number | undefined][] = [
    [size, task.megabytes],
    [use.principal, dailyMegabytes.principal],
    [use.tenant, dailyMegabytes.tenant],
    [use.server, dailyMegabytes.server],
  ];
  const left = pairs.flatMap(([written, most]) =>
    written === undefined || most === undefined ? [] : most * BYTES_PER_MEGABYTE - written.bytes,
  );
  return Math.max(0, Math.min(...left));
}

function usedOf({ principal, tenant, server }: DailyWrittenByScope, name: DailyLimitName): CountsByScope {
  const amount = ({ events, bytes }: WrittenAmount): number =>
    name === 'dailyEvents' ? events : bytes / BYTES_PER_MEGABYTE;
  return {
    principal: amount(principal),
    ...(tenant && { tenant: amount(tenant) }),
    server: amount(server),
  };
}
