import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Journal } from '../../journal/journal.ts';
import { type ReachedDailyLimit, reachedDailyLimit, type WritingLimits } from '../../limits/daily-writing.ts';
import { utcDay } from '../../task/costs/cost-sum.ts';

interface DailyLimitOptions {
  journal: Pick<Journal, 'dailyWritten'>;
  clock: Pick<Clock, 'now'>;
  /** Returns the current limits for the data that tasks write to the journal. */
  writingLimits: () => WritingLimits;
}

/**
 * Returns the daily limit of written data that the principal, its tenant or the server has reached. Above this limit,
 * only decisions and revocations of grants are accepted.
 */
export async function findReachedDailyWritingLimit(
  principal: string,
  { journal, clock, writingLimits }: DailyLimitOptions,
): Promise<ReachedDailyLimit | undefined> {
  return reachedDailyLimit(await journal.dailyWritten(principal, utcDay(clock.now())), writingLimits());
}
