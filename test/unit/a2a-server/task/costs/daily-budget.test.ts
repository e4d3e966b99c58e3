import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  dailyBudgetQuestion,
  extendedDailyBudget,
} from '../../../../../a2a-server/task/costs/daily-budget.ts';
import { numberOfRuns } from '../../../../support/property-runs.ts';

describe('the daily budget', () => {
  it('the daily budget asks once the cost of the day reaches it, and not before', () => {
    const use = { day: 20_000, extendedAt: null };
    expect(dailyBudgetQuestion({ ...use, usd: 4.99 }, 5)).toBeUndefined();
    expect(dailyBudgetQuestion({ ...use, usd: 5 }, 5)).toEqual({
      question:
        'Your tasks have cost 5.00 US dollars today (2024-10-04, UTC). The budget per day is 5.00 US dollars. What this task did so far is kept. Reply to allow 5.00 US dollars more today, for all your tasks; or cancel the task.',
      dayCost: { day: 20_000, usd: 5 },
    });
  });

  it('each answered question allows the budget’s amount again, from the cost at the question', () => {
    expect(extendedDailyBudget({ extendedAt: 5.3 }, 5)).toBeCloseTo(10.3, 10);
    expect(dailyBudgetQuestion({ day: 1, usd: 10.2, extendedAt: 5.3 }, 5)).toBeUndefined();
    expect(dailyBudgetQuestion({ day: 1, usd: 10.4, extendedAt: 5.3 }, 5)?.dayCost.usd).toBe(10.4);
  });

  it('the daily budget does not ask again directly after an answer, for any amounts', () => {
    const money = fc.double({ min: 0.000001, max: 1_000_000, noNaN: true });
    fc.assert(
      fc.property(money, money, (usd, budget) => {
        const asked = dailyBudgetQuestion({ day: 1, usd, extendedAt: null }, budget);
        if (asked === undefined) return;
        expect(dailyBudgetQuestion({ day: 1, usd, extendedAt: asked.dayCost.usd }, budget)).toBeUndefined();
      }),
      { numRuns: numberOfRuns(500) },
    );
  });
});
