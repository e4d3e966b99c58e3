/**
 * Tests ten thousand waiting tasks, or two thousand in `npm test`. They are only rows on the disk, and the process keeps
 * nothing of them.
 */
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Journal } from '../../../a2a-server/journal/journal.ts';
import { openSqliteJournal } from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { addParkedTasks, parkedTaskFile, parkedTaskId } from '../../support/parked-tasks.ts';
import { numberOfRuns } from '../../support/property-runs.ts';
import {
  ADA,
  decideUntilSettled,
  messageOf,
  sendUntilSettled,
  startScripted,
} from '../../support/task-service.ts';

const COUNT = numberOfRuns(10_000);
const APPEND = { tool: 'append-file', input: { path: parkedTaskFile(undefined), content: 'once' } };
const maintenance = { expiry: { decisionMs: 604_800_000, idleMs: null }, retentionMs: 2_592_000_000 };

it('R30 a server that starts with thousands of waiting tasks does not load them; each of them can continue', async () => {
  const { models, ...before } = await park();
  const given = { read: 0, unsettled: 0, deadlines: 0 };
  const between = (journal: Journal) => counting(journal, given);
  const { tasks, clock, failures, workspace } = await before.restart({ between });
  models.requests.length = 0;
  expect(await tasks.recover()).toBe(0);
  await tasks.maintenanceIdle();
  // The server reads the next deadline from one page of the index, and reads no journal entry.
  expect(given).toEqual({ read: 0, unsettled: 0, deadlines: 100 });
  expect([clock.pending, tasks.executing(), models.requests.length]).toEqual([1, 0, 0]);

  const [sample = []] = fc.sample(fc.uniqueArray(fc.nat(COUNT - 1), { minLength: 5, maxLength: 5 }), {
    numRuns: 1,
    seed: 30,
  });
  for (const index of sample) {
    const parked = await tasks.snapshot(parkedTaskId(index), { principal: ADA });
    expect((await decideUntilSettled(tasks, parked)).status.state).toBe('completed');
    expect(await readFile(join(workspace, parkedTaskFile(index)), 'utf8')).toBe('once');
  }
  expect(await readdir(workspace)).toHaveLength(sample.length);
  expect(clock.pending).toBe(1);

  clock.advance(3_600_000);
  await tasks.maintenanceIdle();
  expect((await tasks.list({ principal: ADA, states: ['input-required'] }, { size: 1 })).total).toBe(
    COUNT + 1 - sample.length,
  );
  expect(failures).toEqual([]);
  // Ten thousand tasks share the machine with other tests. The test does not wait for this time.
}, 240_000);

/** Creates waiting tasks: the executor makes the first one, and the test writes copies. The process then ends. */
async function park() {
  const service = await startScripted([{ calls: [APPEND] }], { maintenance });
  const { taskId } = await sendUntilSettled(service.tasks, messageOf('append'));
  await service.stop();
  const journal = await openSqliteJournal({
    path: join(service.stateDir, 'journal.db'),
    clock: () => service.clock.now(),
  });
  await addParkedTasks(journal, await journal.read(taskId, 0, 100), COUNT);
  await journal.close();
  return service;
}

/** Counts the rows and entries that were read. */
function counting(journal: Journal, given: { read: number; unsettled: number; deadlines: number }): Journal {
  const read = journal.read.bind(journal);
  const unsettled = journal.unsettled.bind(journal);
  const deadlines = journal.deadlines.bind(journal);
  journal.read = async (...asked) => {
    const entries = await read(...asked);
    given.read += entries.length;
    return entries;
  };
  journal.unsettled = async () => {
    const rows = await unsettled();
    given.unsettled += rows.length;
    return rows;
  };
  journal.deadlines = async (limit) => {
    const rows = await deadlines(limit);
    given.deadlines += rows.length;
    return rows;
  };
  return journal;
}
