import { expect, test } from '@jest/globals';
import { isBusyAtLoad } from '../../../../a2a-server/limits/busy-detector.ts';

test('a busy state begins above a load of 90 % and ends below 75 %', () => {
  let busy = false;
  const states = [0.8, 0.95, 0.8, 0.76, 0.7, 0.8].map((load) => (busy = isBusyAtLoad(busy, load)));
  expect(states).toEqual([false, true, true, true, false, false]);
});
