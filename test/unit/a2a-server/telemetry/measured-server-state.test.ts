import { expect, it } from '@jest/globals';
import { createMeasuredServerStateReader } from '../../../../a2a-server/telemetry/measured-server-state.ts';
import type { JournalStatistics } from '../../../../a2a-server/journal/journal.ts';
import { createSingleServerOwnership } from '../../../../a2a-server/journal/ownership.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const NOTHING: JournalStatistics = { tasks: {}, waitingSince: null, bytes: 1 };

function countedFacts(statistics: () => Promise<JournalStatistics>) {
  const clock = new FakeClock();
  let counts = 0;
  const journal = {
    ownership: createSingleServerOwnership({ unsettled: () => Promise.resolve([]) }),
    statistics() {
      counts += 1;
      return statistics();
    },
  };
  return {
    clock,
    counts: () => counts,
    facts: createMeasuredServerStateReader({
      journal,
      clock,
      streams: () => 2,
      executions: () => 3,
      queued: () => 4,
    }),
  };
}

it('readers at the same time and within five seconds share one count of the journal', async () => {
  const { facts, clock, counts } = countedFacts(() => Promise.resolve(NOTHING));
  await Promise.all([facts(), facts()]);
  clock.advance(4_999);
  await facts();
  expect(counts()).toBe(1);
  clock.advance(1);
  expect(await facts()).toMatchObject({
    streams: 2,
    executions: 3,
    queued: 4,
    statistics: NOTHING,
    leaseMs: undefined,
  });
  expect(counts()).toBe(2);
});

it('while the journal cannot be read, the other facts are there', async () => {
  const { facts } = countedFacts(() => Promise.reject(new Error('the database is away')));
  expect(await facts()).toMatchObject({ streams: 2, statistics: undefined });
});

it('a journal that hangs delays a reader by two seconds at most, and is asked once', async () => {
  const answers: ((statistics: JournalStatistics) => void)[] = [];
  const { facts, clock, counts } = countedFacts(() => new Promise((resolve) => void answers.push(resolve)));
  const hanging = facts();
  clock.advance(2_000);
  expect((await hanging).statistics).toBeUndefined();
  clock.advance(5_000);
  const next = facts();
  expect(counts()).toBe(1);
  answers[0]?.(NOTHING);
  expect((await next).statistics).toEqual(NOTHING);
});
