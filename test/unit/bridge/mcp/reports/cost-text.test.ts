import { expect, test } from '@jest/globals';
import { costLine } from '../../../../../bridge/mcp/reports/cost-text.ts';
import { dollarsText } from '../../../../../shared/text/cost-text.ts';

const TASK = { turns: 2, inputTokens: 900, outputTokens: 40, usd: 0.25 };

test('the cost line has separate numbers for plain, read and written tokens', () => {
  expect(costLine(TASK)).toBe('Cost: 2 turns, 900 tokens in, 40 out, $0.2500.');
  expect(costLine({ ...TASK, cachedInputTokens: 500 })).toBe(
    'Cost: 2 turns, 900 tokens in (500 read from the cache), 40 out, $0.2500.',
  );
  expect(costLine({ ...TASK, cachedInputTokens: 500, cacheWriteTokens: 300, usd: null })).toBe(
    'Cost: 2 turns, 900 tokens in (500 read from the cache, 300 written to the cache), 40 out, price unknown.',
  );
});

test('the cost line has the singular for one turn', () => {
  expect(costLine({ ...TASK, turns: 1 })).toBe('Cost: 1 turn, 900 tokens in, 40 out, $0.2500.');
});

test('the cost line has the session’s sum, also for a task without tokens so far', () => {
  const session = { inputTokens: 2_000, outputTokens: 90, cacheWriteTokens: 7, usd: 1.5 };
  const all = 'All tasks of the session: 2000 tokens in (7 written to the cache), 90 out, $1.50.';
  expect(costLine({ ...TASK, session })).toBe(`Cost: 2 turns, 900 tokens in, 40 out, $0.2500. ${all}`);
  expect(costLine({ ...TASK, inputTokens: 0, outputTokens: 0, session })).toBe(all);
});

test('the cost line is empty without tokens, and has no price if the report has none', () => {
  expect(costLine({ ...TASK, inputTokens: 0, outputTokens: 0 })).toBe('');
  expect(costLine({ ...TASK, usd: undefined })).toBe('Cost: 2 turns, 900 tokens in, 40 out.');
});

test('an amount has two decimals, or four below one dollar', () => {
  expect([dollarsText(0), dollarsText(0.00012), dollarsText(0.5), dollarsText(12.345)]).toEqual([
    '$0.0000',
    '$0.0001',
    '$0.5000',
    '$12.35',
  ]);
});
