import { expect, it } from '@jest/globals';
import { createCachedRead } from '../../../../a2a-server/runtime/cached-read.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('after a failure, a provider is read again when the pause has passed, also if the wall clock has gone back', async () => {
  const clock = new FakeClock();
  let reads = 0;
  const read = createCachedRead(
    async () => {
      reads += 1;
      if (reads === 1) throw new Error('away');
      return 'configuration';
    },
    { clock, cooldownMs: 30_000 },
  );
  await expect(read()).rejects.toThrow('away');
  clock.jump(-3_600_000);
  clock.advance(29_999);
  await expect(read()).rejects.toThrow('away');
  clock.advance(1);
  expect(await read()).toBe('configuration');
});

it('a value is read again after its maximum age, also if `elapsed` stopped while the machine slept', async () => {
  const clock = new FakeClock();
  let reads = 0;
  const read = createCachedRead(() => Promise.resolve((reads += 1)), {
    clock,
    cooldownMs: 1,
    maxAgeMs: 600_000,
  });
  expect(await read()).toBe(1);
  clock.jump(599_999);
  expect(await read()).toBe(1);
  clock.jump(1);
  expect(await read()).toBe(2);
});
