import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { isTurnOver } from '../../../../a2a-server/limits/event-loop-turn.ts';
import { countLoopTurns } from '../../../support/loop-turns.ts';

async function workLong(): Promise<void> {
  while (isTurnOver()) await nextTurn();
  for (const until = performance.now() + 15; performance.now() < until;);
}

test('X3 work that is ready at the same time is divided among several turns of the event loop', async () => {
  const turns = await countLoopTurns(() => Promise.all(Array.from({ length: 8 }, workLong)));
  expect(turns).toBeGreaterThanOrEqual(3);
});
