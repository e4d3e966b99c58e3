import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DatabaseClock } from '../../../../../a2a-server/journal/postgres/database-clock.ts';

const delay = fc.integer({ min: 0, max: 5_000 });

describe('the clock of the database', () => {
  it('differs from the time of the database by at most one round trip, whatever the own clock says', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -1e12, max: 1e12 }),
        fc.array(fc.record({ pause: delay, there: delay, back: delay }), { minLength: 1, maxLength: 10 }),
        async (difference, reads) => {
          let monotonic = 0;
          const clock = new DatabaseClock(() => monotonic);
          for (const { pause, there, back } of reads) {
            monotonic += pause;
            await clock.synchronize(async () => {
              monotonic += there;
              const time = monotonic + difference;
              monotonic += back;
              return time;
            });
            expect(Math.abs(clock.now() - (monotonic + difference))).toBeLessThanOrEqual(there + back + 1);
          }
        },
      ),
    );
  });

  it('does not jump within the uncertainty of a read', async () => {
    let monotonic = 0;
    const clock = new DatabaseClock(() => monotonic);
    const read = (time: number): Promise<void> =>
      clock.synchronize(async () => {
        monotonic += 10;
        return time;
      });
    await read(1_000);
    const before = clock.now();
    await read(1_012);
    expect(clock.now()).toBe(before + 10);
  });

  it('keeps its time if the database gives no answer', async () => {
    let monotonic = 0;
    const clock = new DatabaseClock(() => monotonic);
    await clock.synchronize(async () => 5_000);
    await clock.synchronize(async () => undefined);
    monotonic += 3;
    expect(clock.now()).toBe(5_003);
  });
});
