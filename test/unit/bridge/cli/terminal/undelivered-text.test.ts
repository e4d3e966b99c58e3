import { expect, it } from '@jest/globals';
import { undeliveredText } from '../../../../../bridge/cli/terminal/undelivered-text.ts';

it('a command that ends says who makes the next try, and when', () => {
  const nextTry = new Date('2026-01-01T00:00:10Z');
  const text = undeliveredText(
    {
      type: 'not-delivered',
      delivery: { type: 'retrying', reason: 'The queue is full.', nextTry, mayHaveArrived: false },
      task: null,
    },
    'session-1',
  );
  expect(text).toBe(
    'It is not delivered yet: The queue is full. The message is kept. If a bridge is running, the next try is at 2026-01-01T00:00:10.000Z. Otherwise deliver it with: mcp-a2a-bridge watch session-1',
  );
});
