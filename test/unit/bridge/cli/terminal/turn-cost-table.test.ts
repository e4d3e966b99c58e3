import { expect, test } from '@jest/globals';
import { turnCostTable } from '../../../../../bridge/cli/terminal/turn-cost-table.ts';
import { HOSTILE_COMMAND } from '../../../../support/hostile-text.ts';

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
