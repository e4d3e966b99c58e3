import { expect, test } from '@jest/globals';
import { costReportTables, turnCostTable } from '../../../../../bridge/cli/terminal/cost-tables.ts';
import type { CostReport, CostSumView } from '../../../../../shared/protocol/cost-report.ts';
import { HOSTILE_COMMAND } from '../../../../support/hostile-text.ts';

const NONE: CostSumView = {
  requests: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  usd: 0,
  knownUsd: 0,
  unpricedRequests: 0,
};
const PAID = {
  ...NONE,
  requests: 2,
  inputTokens: 900,
  cachedInputTokens: 500,
  outputTokens: 40,
  usd: 1.5,
  knownUsd: 1.5,
};
const UNPRICED = { ...NONE, requests: 1, inputTokens: 7, outputTokens: 3, usd: null, unpricedRequests: 1 };
const BOTH = { ...PAID, requests: 3, inputTokens: 907, outputTokens: 43, usd: null, unpricedRequests: 1 };

const EMPTY: CostReport = {
  timeZone: 'UTC',
  from: '2026-01-30',
  to: '2026-01-31',
  total: NONE,
  days: [],
  sessions: [],
  moreSessions: 0,
  models: [],
};
const REPORT: CostReport = {
  ...EMPTY,
  total: BOTH,
  days: [
    { day: '2026-01-31', ...UNPRICED },
    { day: '2026-01-30', ...PAID },
  ],
  sessions: [
    { sessionId: 's-1', title: 'Fix the build', lastDay: '2026-01-31', ...BOTH },
    { sessionId: null, title: '', lastDay: '2026-01-30', ...NONE, requests: 4 },
  ],
  models: [
    { model: 'openai:gpt-4o', ...PAID },
    { model: 'ollama:qwen3', ...UNPRICED },
  ],
};

test('the cost tables name their days, and say plainly that a price is unknown', () => {
  expect(costReportTables(REPORT, undefined)).toBe(
    `From 2026-01-30 to 2026-01-31 (UTC days):

DAY         REQUESTS  TOKENS IN  CACHE READ  CACHE WRITTEN  TOKENS OUT             COST
2026-01-31         1          7           0              0           3          unknown
2026-01-30         2        900         500              0          40            $1.50
total              3        907         500              0          43  $1.50 + unknown

SESSION             LAST DAY    REQUESTS  TOKENS IN  CACHE READ  CACHE WRITTEN  TOKENS OUT             COST  TASK
s-1                 2026-01-31         3        907         500              0          43  $1.50 + unknown  Fix the build
(deleted sessions)  2026-01-30         4          0           0              0           0                -

MODEL          REQUESTS  TOKENS IN  CACHE READ  CACHE WRITTEN  TOKENS OUT     COST
openai:gpt-4o         2        900         500              0          40    $1.50
ollama:qwen3          1          7           0              0           3  unknown

The price of 1 request to ollama:qwen3 is unknown. Add its price in US dollars per million tokens to the configuration file, e.g. {"server":{"prices":{"ollama:qwen3":{"input":3,"output":15}}}}. A free model has the price 0. It applies to later requests.`,
  );
});

test('the cost tables show the daily budget, with the limit that a person has raised', () => {
  const dailyBudget = { usd: 5, limitUsd: 5, spentUsd: 1.5 };
  expect(costReportTables({ ...EMPTY, dailyBudget }, undefined)).toBe(
    'No requests to a model from 2026-01-30 to 2026-01-31 (UTC days).\nThe budget per day is $5.00. Today cost $1.50.',
  );
  const raised = { ...dailyBudget, limitUsd: 10.2 };
  expect(costReportTables({ ...EMPTY, dailyBudget: raised }, undefined)).toContain(
    'The budget per day is $5.00, and a person allowed more: the limit of today is $10.20. Today cost $1.50.',
  );
});

test('the list of sessions is short and counts the others; agent text is escaped', () => {
  const sessions = Array.from({ length: 30 }, (_, index) => ({
    ...PAID,
    sessionId: `s-${index}`,
    title: HOSTILE_COMMAND,
    lastDay: '2026-01-31',
  }));
  const text = costReportTables({ ...REPORT, sessions, moreSessions: 5 }, undefined);
  expect(text).toContain('… and 15 more sessions');
  expect(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)).toBe(false);
});

test('a session has the same title as in the list of tasks: a plan is named by its tools', () => {
  const title = '{"plan":[{"tool":"write-file","input":{"path":"a.md"}},{"say":"done"}]}';
  const sessions = [{ ...PAID, sessionId: 's-1', title, lastDay: '2026-01-31' }];
  expect(costReportTables({ ...REPORT, sessions }, undefined)).toMatch(/ {2}Plan: write-file$/m);
});

const REQUEST = {
  at: '2026-01-31T00:00:00.000Z',
  model: 'vllm:qwen3',
  turn: 1,
  inputTokens: 900,
  cachedInputTokens: 500,
  cacheWriteTokens: 30,
  outputTokens: 40,
  usd: 0.25,
};

test('the cost table has a row for each turn and each summary', () => {
  const requests = [
    REQUEST,
    { ...REQUEST, turn: null, cachedInputTokens: 0 },
    { ...REQUEST, turn: 2, usd: null },
  ];
  expect(turnCostTable({ taskId: 't', requests }, undefined).split('\n')).toEqual([
    'TURN     TOKENS IN  CACHE READ  CACHE WRITTEN  TOKENS OUT     COST  MODEL',
    '1              900         500             30          40  $0.2500  vllm:qwen3',
    'summary        900           0             30          40  $0.2500  vllm:qwen3',
    '2              900         500             30          40  unknown  vllm:qwen3',
  ]);
});

test('the cost table escapes the model’s name, and a task without tokens has a sentence', () => {
  const text = turnCostTable({ taskId: 't', requests: [{ ...REQUEST, model: HOSTILE_COMMAND }] }, undefined);
  expect(text).not.toContain(HOSTILE_COMMAND);
  expect(turnCostTable({ taskId: 't', requests: [] }, 80)).toBe('The turns of this task have no tokens.');
});
