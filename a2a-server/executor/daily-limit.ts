import type { Clock } from '../../shared/runtime/clock.ts';
import type { ProductError } from '../../shared/runtime/errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { OnRefused } from '../limits/counted-use.ts';
import { dailyRefusal, reachedDailyLimit, type WritingLimits } from '../limits/daily-writing.ts';
import { utcDay } from '../task/cost-sum.ts';

export interface DailyLimitOptions {
  journal: Pick<Journal, 'dailyWritten'>;
  clock: Pick<Clock, 'now'>;
  /** Returns the limits of written events that apply now. */
  writingLimits: () => WritingLimits;
  onRefused?: OnRefused;
}

/**
 * Refuses a message if its principal, its tenant or the server has reached its limit of written data for today. Returns
 * the error, or undefined if the message is accepted.
 */
export async function dailyLimitRefusal(
  principal: string,
  { journal, clock, writingLimits, onRefused }: DailyLimitOptions,
): Promise<ProductError | undefined> {
  const now = clock.now();
  const reached = reachedDailyLimit(await journal.dailyWritten(principal, utcDay(now)), writingLimits());
  if (reached === undefined) return undefined;
  onRefused?.(reached.name, reached.scope);
  return dailyRefusal(reached, now);
}
