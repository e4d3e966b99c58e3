/**
 * Checks the budget of a principal per UTC day, in US dollars. When the budget is spent, each of the principal's tasks
 * stops before its next turn and asks a person. A reply allows the same amount again on that day, for all tasks of the
 * principal. Pure.
 */
import type { DayCost } from '../events.ts';
import { utcDayText } from './cost-sum.ts';

export interface DailyBudgetUse {
  day: number;
  /** The cost of the day's requests with a known price, in US dollars. */
  usd: number;
  /**
   * The day's cost when a person last allowed more spending, in US dollars. Null if no person has done so on this day.
   */
  extendedAt: number | null;
}

export function extendedDailyBudget(
  { extendedAt }: Pick<DailyBudgetUse, 'extendedAt'>,
  budget: number,
): number {
  return extendedAt === null ? budget : Math.max(budget, extendedAt + budget);
}

/** Returns the question and the day's cost if the daily budget is spent. */
export function dailyBudgetQuestion(
  use: DailyBudgetUse,
  budget: number,
): { question: string; dayCost: DayCost } | undefined {
  const { day, usd } = use;
  if (usd < extendedDailyBudget(use, budget)) return undefined;
  return {
    question: `Your tasks have cost ${amountText(usd)} US dollars today (${utcDayText(day)}, UTC). The budget per day is ${amountText(budget)} US dollars. What this task did so far is kept. Reply to allow ${amountText(budget)} US dollars more today, for all your tasks; or cancel the task.`,
    dayCost: { day, usd },
  };
}

function amountText(usd: number): string {
  return usd < 0.01 ? String(Number(usd.toPrecision(2))) : usd.toFixed(2);
}
