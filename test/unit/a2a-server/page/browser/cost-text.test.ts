import { expect, test } from '@jest/globals';
import {
  rowCostText,
  taskCostText,
  todayCostText,
} from '../../../../../a2a-server/page/browser/cost-text.ts';
import { costReport } from '../../../../../a2a-server/task/costs/cost-report.ts';
import { NO_COST } from '../../../../../a2a-server/task/costs/cost-sum.ts';

const DAY = 20_000;
const row = { ...NO_COST, day: DAY, sessionId: 's', model: 'm', requests: 1 };
const report = (...rows: (typeof row)[]) => costReport(rows, { fromDay: DAY, toDay: DAY });
const TASK = { inputTokens: 900, outputTokens: 40, cachedInputTokens: 500, usd: 0.25 };

test('the page shows the cost of the UTC day, and today’s limit of the daily budget', () => {
  expect(todayCostText(report())).toBe('');
  expect(todayCostText(report(row))).toBe('');
  const paid = { ...row, inputTokens: 10, knownUsd: 1.5 };
  expect(todayCostText(report(paid))).toBe('Today (UTC): $1.50');
  expect(todayCostText(report(paid, { ...row, inputTokens: 10, unpriced: 1 }))).toBe(
    'Today (UTC): $1.50 and requests with an unknown price',
  );
  const dailyBudget = { usd: 5, limitUsd: 6.5, spentUsd: 1.5 };
  expect(todayCostText({ ...report(paid), dailyBudget })).toBe('Today (UTC): $1.50 of $6.50');
  expect(todayCostText({ ...report(), dailyBudget })).toBe('Today (UTC): $0.0000 of $6.50');
});

test('a row of the task list shows the price of its task or session, and nothing for an agent that does not count tokens', () => {
  expect(rowCostText({ inputTokens: 0, outputTokens: 0, usd: 0 })).toBe('');
  expect(rowCostText(TASK)).toBe('$0.2500');
  expect(rowCostText({ ...TASK, usd: null })).toBe('price unknown');
});

test('the page shows a task’s own cost, and the session’s cost if the session has other tasks', () => {
  const none = { inputTokens: 0, outputTokens: 0, usd: 0 };
  expect(taskCostText({ cost: { task: none, session: none } })).toBe('');
  const own = 'Cost: 900 tokens in (500 read from the cache), 40 out, $0.2500.';
  expect(taskCostText({ cost: { task: TASK, session: TASK } })).toBe(own);
  const session = { ...TASK, inputTokens: 2_000, usd: null };
  expect(taskCostText({ cost: { task: TASK, session } })).toBe(
    `${own} All tasks of the session: 2000 tokens in (500 read from the cache), 40 out, price unknown.`,
  );
});
