import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapInGroups } from '../../../../a2a-server/runtime/map-in-groups.ts';

it('maps items in order, and at most as many at the same time as asked', async () => {
  let [running, most] = [0, 0];
  const doubled = await mapInGroups([1, 2, 3, 4, 5], 2, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await nextTurn();
    running -= 1;
    return item * 2;
  });
  expect(doubled).toEqual([2, 4, 6, 8, 10]);
  expect(most).toBe(2);
});
