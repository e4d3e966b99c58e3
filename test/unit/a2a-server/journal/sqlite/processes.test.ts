/** Tests the SQLite journal with several processes, killed processes and a full disk. */
import { describe, expect, it } from '@jest/globals';
import { chmod, copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildTaskRow } from '../../../../../a2a-server/journal/build-task-row.ts';
import type { Journal } from '../../../../../a2a-server/journal/journal.ts';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { lockJournal } from '../../../../../a2a-server/journal/sqlite/journal-lock.ts';
import { beginning } from '../../../../support/journal-samples.ts';
import { startJournalProcess } from '../../../../support/journal-process.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const clock = () => 1;
const NOBODY = 65_534;

async function allEntries(journal: Journal, taskId: string) {
  const entries = await journal.read(taskId, 0, 1_000_000);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
  expect(await journal.row(taskId)).toEqual(buildTaskRow(taskId, entries));
  return entries;
}

describe('one process per journal', () => {
  it('a second process cannot open the journal, and can after the first process is killed', async () => {
    const path = join(await temporaryDirectory(), 'journal.db');
    const first = await startJournalProcess('hold', path);
    await first.said(1);
    const second = await startJournalProcess('once', path);
    await second.ended();
    expect(second.reports).toEqual([
      {
        type: 'refused',
        reason: 'CONFIGURATION',
        message: `Another a2a-server already uses the journal ${path}. Use that server, stop it first, or choose another state directory for this one.`,
      },
    ]);
    await first.kill();
    const third = await startJournalProcess('once', path);
    await third.ended();
    expect(third.reports).toEqual([{ type: 'appended', taskId: 'a', seq: 2 }]);
  });

  it('the process keeps its lock if it tries to open the journal again', async () => {
    const path = join(await temporaryDirectory(), 'journal.db');
    const journal = await openSqliteJournal({ path, clock });
    await expect(openSqliteJournal({ path, clock })).rejects.toMatchObject({ reason: 'CONFIGURATION' });
    // Closing any descriptor of a file drops this process's POSIX locks on it. Then another process could get the lock.
    const other = await startJournalProcess('once', path);
    await other.ended();
    expect(other.reports).toEqual([expect.objectContaining({ type: 'refused', reason: 'CONFIGURATION' })]);
    await journal.close();
  });
});

describe('a deleted lock file whose process still runs', () => {
  it('E1 while the process runs, no second process can open the journal', async () => {
    const path = join(await temporaryDirectory(), 'journal.db');
    const first = await startJournalProcess('hold', path);
    await first.said(1);
    await rm(`${path}.owner`);
    const second = await startJournalProcess('once', path);
    await second.ended();
    expect(second.reports).toEqual([expect.objectContaining({ type: 'refused', reason: 'CONFIGURATION' })]);
    await first.kill();
    const third = await startJournalProcess('once', path);
    await third.ended();
    expect(third.reports).toEqual([expect.objectContaining({ type: 'appended' })]);
  });

  it('E1 the next append creates and locks the file again; if another process owns the new file, appends fail', async () => {
    const path = join(await temporaryDirectory(), 'journal.db');
    const journal = await openSqliteJournal({ path, clock });
    await rm(`${path}.owner`);
    await expect(openSqliteJournal({ path, clock })).rejects.toMatchObject({ reason: 'CONFIGURATION' });
    await journal.append(beginning('a'));
    expect(() => lockJournal(path)).toThrow(/already uses the journal/);
    await rm(`${path}.owner`);
    const other = lockJournal(path);
    await expect(journal.append(beginning('b'))).rejects.toThrow(/already uses the journal/);
    // Each check blocks all requests, so it must not wait for the other process. The wait would be at least 500 ms.
    const checks = [1, 2, 3].map(() => {
      const begun = performance.now();
      expect(journal.reachable()).toBe(false);
      return performance.now() - begun;
    });
    expect(Math.min(...checks)).toBeLessThan(500);
    other.release();
    await journal.append(beginning('c'));
    await journal.close();
  });

  it('a lock file that cannot be created is an error that names it', async () => {
    const path = join(await temporaryDirectory(), 'missing', 'journal.db');
    expect(() => lockJournal(path)).toThrow(
      expect.objectContaining({ reason: 'STORAGE', message: expect.stringContaining(`${path}.owner`) }),
    );
  });

  it('a copy of a journal in use has no owner', async () => {
    const path = join(await temporaryDirectory(), 'journal.db');
    const journal = await openSqliteJournal({ path, clock });
    await journal.append(beginning('a'));
    const copy = join(await temporaryDirectory(), 'journal.db');
    await Promise.all(['', '-wal'].map((end) => copyFile(`${path}${end}`, `${copy}${end}`)));
    const restored = await openSqliteJournal({ path: copy, clock });
    expect(await restored.row('a')).toBeDefined();
    await Promise.all([journal.close(), restored.close()]);
  });
});

describe('a process that is killed with the journal open', () => {
  it('J1 kill -9 during appends loses no acknowledged entry and leaves no gap', async () => {
    const path = join(await temporaryDirectory(), 'journal.db');
    for (const appends of [1, 40, 333, 1_000]) {
      const process = await startJournalProcess('stream', path);
      await process.said(appends);
      await process.kill();
      const acknowledged = new Map<string, number>();
      for (const report of process.reports) {
        if (report.type !== 'appended') throw new Error(JSON.stringify(report));
        acknowledged.set(report.taskId, report.seq);
      }
      const journal = await openSqliteJournal({ path, clock });
      for (const [taskId, seq] of acknowledged) {
        const entries = await allEntries(journal, taskId);
        expect(entries.length).toBeGreaterThanOrEqual(seq);
        const texts = entries.flatMap(({ event }) => (event.type === 'text.delta' ? [event.text] : []));
        expect(texts).toEqual(texts.map((_, index) => `${taskId} ${index + 3}`));
        // Each append must be complete: the first has two events, and the later ones have the number that the task's
        // letter gives.
        expect((entries.length - 2) % (1 + 'abcde'.indexOf(taskId))).toBe(0);
      }
      await journal.close();
    }
  }, 60_000);
});

describe('a full disk under the journal', () => {
  it('R28 the journal refuses the whole commit group with STORAGE, writes no part of it, and accepts a later append that fits', async () => {
    const path = join(await temporaryDirectory(), 'journal.db');
    const process = await startJournalProcess('flood', path, { fileSizeLimit: 1_024 });
    await process.ended();
    const message: unknown = expect.stringContaining('try again');
    // While the disk refuses appends, the server is not ready.
    const refused = { type: 'refused', reason: 'STORAGE', message, reachable: false };
    expect(process.reports).toEqual([
      { type: 'appended', taskId: 'a', seq: 2 },
      expect.objectContaining(refused),
      expect.objectContaining(refused),
      { type: 'appended', taskId: 'a', seq: 3 },
    ]);
    const journal = await openSqliteJournal({ path, clock });
    expect(await allEntries(journal, 'a')).toHaveLength(3);
    expect(await journal.row('beside the flood')).toBeUndefined();
    await journal.close();
  });

  it('R28 if no file can grow, the open fails', async () => {
    const path = join(await temporaryDirectory(), 'journal.db');
    const process = await startJournalProcess('once', path, { fileSizeLimit: 1 });
    await process.ended();
    expect(process.reports).toEqual([expect.objectContaining({ type: 'refused', reason: 'STORAGE' })]);
    const journal = await openSqliteJournal({ path, clock });
    expect(await journal.unsettled()).toEqual([]);
    await journal.close();
  });
});

describe('a journal directory without write access', () => {
  // Root may write everywhere. So a root process first switches to the user `nobody`.
  const uid = process.getuid?.() === 0 ? { uid: NOBODY } : {};

  it('R28 the open gives STORAGE, and the directory stays empty', async () => {
    const directory = await temporaryDirectory();
    await chmod(directory, 0o555);
    const stranger = await startJournalProcess('once', join(directory, 'journal.db'), uid);
    await stranger.ended();
    expect(stranger.reports).toEqual([
      expect.objectContaining({
        type: 'refused',
        reason: 'STORAGE',
        message: expect.stringContaining('may write'),
      }),
    ]);
    expect(await readdir(directory)).toEqual([]);
    await chmod(directory, 0o755);
  });

  it('R28 the open gives STORAGE if this user may not open the existing journal', async () => {
    const directory = join(await temporaryDirectory(), 'of-another');
    await mkdir(directory, { mode: 0o755 });
    const path = join(directory, 'journal.db');
    const journal = await openSqliteJournal({ path, clock });
    await journal.close();
    await chmod(join(directory, '..'), 0o755);
    if (uid.uid === undefined) await Promise.all([path, `${path}.owner`].map((file) => chmod(file, 0o000)));
    const stranger = await startJournalProcess('once', path, uid);
    await stranger.ended();
    expect(stranger.reports).toEqual([
      expect.objectContaining({ type: 'refused', reason: 'STORAGE', code: 'SQLITE_CANTOPEN' }),
    ]);
  });
});
