/** Upgrades journals that earlier versions wrote. */
import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { indexRow } from '../../../../../a2a-server/journal/index-row.ts';
import { openSqlite } from '../../../../../shared/sqlite/driver.ts';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import {
  inputRequiredUntil,
  completed,
  continuing,
  message,
  working,
} from '../../../../support/journal-samples.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

async function written(version: number): Promise<string> {
  const path = join(await temporaryDirectory(), 'journal.db');
  const database = openSqlite(path, { busyTimeoutMs: 0 });
  database.exec(await readFile(`test/fixtures/journal-v${version}.sql`, 'utf8'));
  database.close();
  return path;
}

it.each([1])(
  'J1 J2 opening a journal of version %i upgrades it in its file, and its tasks can continue',
  async (version) => {
    const path = await written(version);
    for (const opening of ['first', 'second']) {
      const journal = await openSqliteJournal({ path, clock: () => 1 });
      for (const taskId of ['parked', 'ended', 'moving']) {
        const entries = await journal.read(taskId, 0, 100);
        expect([opening, await journal.row(taskId)]).toEqual([opening, indexRow(taskId, entries)]);
      }
      expect((await journal.unsettled()).map(({ taskId }) => taskId)).toEqual(['moving']);
      expect(await journal.deadlines(10)).toEqual([]);
      expect(await journal.command('alice', 'm1')).toMatchObject({ taskId: 'parked', seq: 6 });
      await journal.close();
    }
    const journal = await openSqliteJournal({ path, clock: () => 1 });
    const reply = [message('the second'), working, inputRequiredUntil('2026-01-02T00:00:00.000Z')];
    expect((await journal.append(continuing('parked', 6, reply))).type).toBe('appended');
    expect(await journal.deadlines(10)).toMatchObject([{ taskId: 'parked', deadline: Date.UTC(2026, 0, 2) }]);
    expect((await journal.append(continuing('moving', 3, [completed]))).type).toBe('appended');
    await journal.close();
  },
);
