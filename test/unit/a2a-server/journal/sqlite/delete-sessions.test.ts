/** Tests that the journal deletes long sessions in small transactions. */
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { join } from 'node:path';
import type { Journal } from '../../../../../a2a-server/journal/journal.ts';
import { openReadonlyJournal } from '../../../../../a2a-server/journal/sqlite/readonly-journal.ts';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { openSqlite, type Sqlite } from '../../../../../shared/sqlite/driver.ts';
import {
  beginning,
  commandKey,
  completed,
  continuing,
  delta,
  working,
} from '../../../../support/journal-samples.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const EVENTS = 5_000;
const STEP = 500;

let path: string;
let journal: Journal;
let witness: Sqlite;

const countOf = (table: string) => Number(witness.query(`SELECT count(*) FROM ${table}`)()[0]?.[0]);

async function open(): Promise<void> {
  journal = await openSqliteJournal({ path, clock: () => 1 });
}

beforeEach(async () => {
  path = join(await temporaryDirectory(), 'journal.db');
  await open();
  const deltas = Array.from({ length: EVENTS }, () => delta('x'));
  const begun = beginning('long', {
    sessionId: 's',
    command: commandKey('m'),
    events: [working, ...deltas, completed],
  });
  await journal.append({ ...begun, contents: [{ hash: 'h', bytes: new Uint8Array(3) }] });
  witness = openSqlite(path, { busyTimeoutMs: 1_000 });
});

afterEach(async () => {
  witness.close();
  await journal.close();
});

it('S2 a deletion hides a long session at once, and removes its rows in small transactions between other writes', async () => {
  expect(await journal.deleteEndedSessions(2, 20)).toBe(1);
  expect(countOf('events')).toBeGreaterThan(EVENTS);
  expect(await journal.row('long')).toBeUndefined();
  expect(await journal.read('long', 0, 10)).toEqual([]);
  expect(await journal.session('alice', 's')).toEqual([]);
  expect(await journal.command('alice', 'm')).toBeUndefined();
  expect(await journal.content('long', 'h')).toBeUndefined();
  expect(await journal.deleteEndedSessions(2, 20)).toBe(0);
  const reader = openReadonlyJournal(path);
  expect(reader.taskIds()).toEqual([]);
  reader.close();

  // While some rows of the deleted session remain, the same session id and message id must count as new.
  await journal.append(beginning('next', { sessionId: 's', command: commandKey('m'), events: [working] }));
  let written = 2;
  for (let before = countOf('events'); (await journal.maintain(STEP)) > 0; before = countOf('events')) {
    expect(before - countOf('events')).toBeLessThanOrEqual(STEP);
    const { type } = await journal.append(continuing('next', written, [delta('y')], 'working'));
    expect(type).toBe('appended');
    written += 1;
  }
  expect([countOf('events'), countOf('tasks'), countOf('contents')]).toEqual([written, 1, 0]);
  expect(await journal.read('next', 0, 100)).toHaveLength(written);
});

it('after a restart, a deletion continues with the rows that a killed process left', async () => {
  await journal.deleteEndedSessions(2, 20);
  await journal.maintain(STEP);
  await journal.close();
  await open();
  while ((await journal.maintain(STEP)) > 0);
  expect([countOf('events'), countOf('tasks'), countOf('contents')]).toEqual([0, 0, 0]);
});
