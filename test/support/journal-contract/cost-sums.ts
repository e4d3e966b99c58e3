/** Contract tests of the sums of costs in a journal. */
import { describe, expect, it } from '@jest/globals';
import type { CostRow } from '../../../a2a-server/task/costs/cost-sum.ts';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import type { Journal } from '../../../a2a-server/journal/journal.ts';
import { beginning, completed, continuing, delta, working } from '../journal-samples.ts';
import type { JournalStage } from './journal-stage.ts';
export function describeCostSums(on: JournalStage): void {
  describe('the sums of costs', () => {
    it('J2 the sums add each request to its day, session and model, across appends and restarts', async () => {
      on.now = DAY * DAY_MS;
      await on.journal.append(beginning('one', { sessionId: 's', events: [working, started('a')] }));
      on.now += DAY_MS - 1;
      await on.journal.append(continuing('one', 3, [finished(10, 0.5), started('a')], 'working'));
      await on.reopen();
      on.now += 1;
      await on.journal.append(continuing('one', 5, [finished(20, 0.25), completed]));
      await on.journal.append(
        beginning('two', { sessionId: 's', events: [working, started('b'), finished(5)] }),
      );
      const base = { sessionId: 's', cacheWriteTokens: 0 };
      expect(await costsOf(on.journal, 'alice')).toEqual([
        {
          ...base,
          day: DAY,
          model: 'a',
          requests: 1,
          inputTokens: 10,
          outputTokens: 1,
          cachedInputTokens: 2,
          knownUsd: 0.5,
          unpriced: 0,
        },
        {
          ...base,
          day: DAY + 1,
          model: 'a',
          requests: 1,
          inputTokens: 20,
          outputTokens: 1,
          cachedInputTokens: 2,
          knownUsd: 0.25,
          unpriced: 0,
        },
        {
          ...base,
          day: DAY + 1,
          model: 'b',
          requests: 1,
          inputTokens: 5,
          outputTokens: 1,
          cachedInputTokens: 2,
          knownUsd: 0,
          unpriced: 1,
        },
      ]);
      expect(await on.journal.costs({ principal: 'alice', fromDay: DAY + 1 })).toHaveLength(2);
      expect(await on.journal.costs({ principal: 'alice', sessionId: 'other' })).toEqual([]);
      expect(await on.journal.costs({ principal: 'bob' })).toEqual([]);
    });

    it('the sums name the right model for a turn whose start and end are in one commit', async () => {
      await on.journal.append(beginning('one', { events: [working] }));
      await Promise.all([
        on.journal.append(continuing('one', 2, [started('a')], 'working')),
        on.journal.append(continuing('one', 3, [finished(10, 1)], 'working')),
      ]);
      expect(await on.journal.costs({ principal: 'alice' })).toMatchObject([{ model: 'a', knownUsd: 1 }]);
    });

    it('the sums do not count an append that the journal refuses', async () => {
      await on.journal.append(beginning('one', { events: [working, started('a')] }));
      const late = continuing('one', 2, [finished(10, 1)], 'working');
      expect((await on.journal.append(late)).type).toBe('conflict');
      expect(await on.journal.costs({ principal: 'alice' })).toEqual([]);
    });

    it('the use of a day has the known costs of all sessions and the highest extension', async () => {
      on.now = DAY * DAY_MS;
      expect(await on.journal.dailyUse('alice', DAY)).toEqual({ day: DAY, usd: 0, extendedAt: null });
      const extended = (usd: number): TaskEvent => ({ type: 'task.working', dayCost: { day: DAY, usd } });
      await on.append(beginning('one', { events: [extended(3), started('a'), finished(10, 0.5)] }));
      await on.append(beginning('two', { events: [extended(2), started('b'), finished(10, 0.25)] }));
      await on.append(beginning('his', { principal: 'bob', events: [started('b'), finished(10, 9)] }));
      expect(await on.journal.dailyUse('alice', DAY)).toEqual({ day: DAY, usd: 0.75, extendedAt: 3 });
      expect(await on.journal.dailyUse('alice', DAY + 1)).toEqual({ day: DAY + 1, usd: 0, extendedAt: null });
    });

    it('the written amounts cover the principal, its tenant and all principals on each day, and a task in all', async () => {
      on.now = DAY * DAY_MS;
      const nothing = { events: 0, bytes: 0 };
      expect(await on.journal.dailyWritten('acme/ann', DAY)).toEqual({
        principal: nothing,
        tenant: nothing,
        server: nothing,
      });
      await on.append(beginning('one', { principal: 'acme/ann', events: [working] }));
      await on.append(beginning('two', { principal: 'acme/bob', events: [working] }));
      const [one, two] = [await on.journal.taskSize('one'), await on.journal.taskSize('two')];
      expect([one.events, two.events]).toEqual([2, 2]);
      const more = 'x'.repeat(5_000);
      const contents = [{ hash: 'h', bytes: new Uint8Array(3_000) }];
      await on.append({ ...continuing('one', 2, [delta(more), delta('y')], 'working'), contents });
      const grown = await on.journal.taskSize('one');
      const added = JSON.stringify(delta(more)).length + JSON.stringify(delta('y')).length + 3_000;
      expect(grown).toEqual({ events: 4, bytes: one.bytes + added });
      expect(await on.journal.dailyWritten('acme/ann', DAY)).toEqual({
        principal: grown,
        tenant: { events: 6, bytes: grown.bytes + two.bytes },
        server: { events: 6, bytes: grown.bytes + two.bytes },
      });
      expect(await on.journal.dailyWritten('acm', DAY)).toMatchObject({
        principal: nothing,
        server: { events: 6 },
      });
      expect(await on.journal.taskSize('none')).toEqual(nothing);
      // The refused append counts for nothing, and the next day begins at 0.
      await on.journal.append(continuing('one', 2, [delta('late')], 'working'));
      on.now += DAY_MS;
      await on.append(continuing('one', 4, [delta('z')], 'working'));
      expect((await on.journal.taskSize('one')).events).toBe(5);
      expect(await on.journal.dailyWritten('acme/bob', DAY + 1)).toMatchObject({
        principal: nothing,
        tenant: { events: 1 },
      });
    });

    it('the written amounts of a day stay, if the clock leaves the day and comes back', async () => {
      on.now = DAY * DAY_MS;
      await on.append(beginning('one', { events: [working] }));
      on.now += DAY_MS;
      await on.append(continuing('one', 2, [delta('tomorrow')], 'working'));
      on.now -= DAY_MS;
      await on.journal.maintain(1);
      expect(await on.journal.dailyWritten('alice', DAY)).toMatchObject({ principal: { events: 2 } });
    });

    it('the sums of a deleted session stay, without its id', async () => {
      on.now = DAY * DAY_MS;
      for (const id of ['one', 'two'])
        await on.append(beginning(id, { events: [working, started('a'), finished(10, 0.5), completed] }));
      expect(await on.journal.deleteEndedSessions(on.now + 1, 10)).toBe(2);
      expect(await on.journal.costs({ principal: 'alice' })).toMatchObject([
        { sessionId: null, model: 'a', requests: 2, knownUsd: 1 },
      ]);
    });
  });
}

const DAY_MS = 86_400_000;

const DAY = 20_000;

const finished = (inputTokens: number, usd?: number): TaskEvent => ({
  type: 'turn.finished',
  turn: 1,
  end: 'tool-calls',
  usage: { inputTokens, outputTokens: 1, cachedInputTokens: 2 },
  ...(usd !== undefined && { usd }),
});

async function costsOf(journal: Journal, principal: string): Promise<CostRow[]> {
  const rows = await journal.costs({ principal });
  return rows.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

const started = (model: string): TaskEvent => ({ type: 'turn.started', turn: 1, model });
