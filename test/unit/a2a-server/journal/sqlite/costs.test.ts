/**
 * Tests the cost sums in the journal. They must equal the events after restarts and upgrades, and stay when a
 * session is deleted.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Journal } from '../../../../../a2a-server/journal/journal.ts';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { verifyJournal } from '../../../../../a2a-server/journal/sqlite/verify-journal.ts';
import type { CostRow } from '../../../../../a2a-server/task/costs/cost-sum.ts';
import type { TaskEvent } from '../../../../../a2a-server/task/events.ts';
import { openSqlite } from '../../../../../shared/sqlite/driver.ts';
import { beginning, continuing, working } from '../../../../support/journal-samples.ts';
import { numberOfRuns } from '../../../../support/property-runs.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const DAY_MS = 86_400_000;
const DAY = 20_000;

let path: string;
let journal: Journal;
let now: number;

const open = async (): Promise<void> => {
  journal = await openSqliteJournal({ path, clock: () => now });
};

beforeEach(async () => {
  path = join(await temporaryDirectory(), 'journal.db');
  now = DAY * DAY_MS;
  await open();
});

afterEach(() => journal.close());

const started = (model: string): TaskEvent => ({ type: 'turn.started', turn: 1, model });
const finished = (inputTokens: number, usd?: number): TaskEvent => ({
  type: 'turn.finished',
  turn: 1,
  end: 'tool-calls',
  usage: { inputTokens, outputTokens: 1, cachedInputTokens: 2 },
  ...(usd !== undefined && { usd }),
});

const rowsOf = async (principal: string): Promise<CostRow[]> =>
  (await journal.costs({ principal })).toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));

/** Changes the database to the version before the cost table. */
function forgetCosts(): void {
  const database = openSqlite(path, { busyTimeoutMs: 0 });
  database.exec(
    'DROP INDEX tasks_of_a_tenant; DROP INDEX tasks_by_state; DROP INDEX waiting_tasks; DROP TABLE costs; DROP TABLE budget_extensions; ALTER TABLE tasks DROP COLUMN model; DROP TABLE written; ALTER TABLE tasks DROP COLUMN size; PRAGMA user_version = 8',
  );
  database.close();
}

describe('the cost sums in the journal', () => {
  it('the sums equal those of the events for any tasks, also after an upgrade of an old journal', async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('request' as const),
        task: fc.nat(2),
        model: fc.constantFrom('a', 'b'),
        usd: fc.option(
          fc.integer({ min: 0, max: 16 }).map((n) => n / 8),
          { nil: undefined },
        ),
      }),
      fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: DAY_MS }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        await journal.close();
        await rm(join(path, '..'), { recursive: true });
        now = DAY * DAY_MS;
        await open();
        const seqs = [2, 2, 2];
        for (const task of [0, 1, 2])
          await journal.append(beginning(`t${task}`, { sessionId: `s${task}`, events: [working] }));
        for (const each of steps) {
          if (each.do === 'wait') now += each.ms;
          else {
            const events = [started(each.model), finished(7, each.usd)];
            const seq = seqs[each.task] ?? 0;
            await journal.append(continuing(`t${each.task}`, seq, events, 'working'));
            seqs[each.task] = seq + 2;
          }
        }
        const rows = await rowsOf('alice');
        expect(rows.reduce((count, { requests }) => count + requests, 0)).toBe(
          steps.filter((each) => each.do === 'request').length,
        );
        expect(verifyJournal(path).problems).toEqual([]);
        await journal.close();
        forgetCosts();
        await open();
        expect(await rowsOf('alice')).toEqual(rows);
        expect(verifyJournal(path).problems).toEqual([]);
      }),
      { numRuns: numberOfRuns(20) },
    );
  });

  it('J2 after an upgrade of the journal, the sums continue with the model of the turn that has not ended', async () => {
    await journal.append(beginning('one', { sessionId: 's', events: [working, started('a')] }));
    await journal.close();
    forgetCosts();
    await open();
    await journal.append(continuing('one', 3, [finished(10, 1)], 'working'));
    expect(await journal.costs({ principal: 'alice' })).toMatchObject([{ model: 'a', knownUsd: 1 }]);
  });

  it('verify names a session whose sums differ from its events', async () => {
    await journal.append(
      beginning('one', { sessionId: 's', events: [working, started('a'), finished(10, 1)] }),
    );
    const database = openSqlite(path, { busyTimeoutMs: 1_000 });
    database.exec('UPDATE costs SET input_tokens = input_tokens + 1');
    expect(verifyJournal(path).problems).toEqual(['The costs of session s differ from its events.']);
    database.exec('DELETE FROM costs');
    expect(verifyJournal(path).problems).toEqual(['The costs of session s differ from its events.']);
    database.close();
  });
});
