import { expect, it } from '@jest/globals';
import { undeliveredText } from '../../../../../bridge/cli/terminal/undelivered-text.ts';

it('a command names no time of a next try, because it has ended by then', () => {
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
    'It is not delivered yet: The queue is full. This command does not try again, but the message is kept. A running bridge delivers it, or: mcp-a2a-bridge watch session-1',
  );
});
