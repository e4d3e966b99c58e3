import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutboxEntry } from '../../../../bridge/outbox/entry.ts';
import { removeDrafts } from '../../../../bridge/outbox/drafts.ts';
import { hasOrphans, outboxDirectory } from '../../../../bridge/outbox/orphans.ts';
import { Outbox } from '../../../../bridge/outbox/outbox.ts';
import { isRunning, ownProcessId } from '../../../../bridge/outbox/process-id.ts';

const entry = (messageId: string, changes: Partial<OutboxEntry> = {}): OutboxEntry => ({
  version: 1,
  messageId,
  agent: 'local',
  text: 'Do it',
  settings: {},
  sessionId: null,
  taskId: null,
  createdAt: `2026-01-01T00:00:00.${messageId.padStart(3, '0')}Z`,
  state: { type: 'sending' },
  cancel: null,
  ...changes,
});
const accepted = { type: 'accepted', taskId: 't', sessionId: 's' } as const;

describe('the outbox', () => {
  let state: string;
  let outbox: Outbox;
  const open = (): string => join(outboxDirectory(state), 'open');
  const closed = (): string => join(outboxDirectory(state), 'closed');

  beforeEach(async () => {
    state = await mkdtemp(join(tmpdir(), 'outbox-'));
    outbox = await Outbox.at(outboxDirectory(state));
  });
  afterEach(() => rm(state, { recursive: true, force: true }));

  /** As if the process that wrote the entries had ended. */
  async function orphanAll(): Promise<void> {
    const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(child, 'exit');
    for (const name of await readdir(open())) {
      const [messageId = ''] = name.split('.');
      await rename(join(open(), name), join(open(), `${messageId}.${String(child.pid)}-x.json`));
    }
  }

  test('what this process has written is seen as it is, until another bridge has closed it', async () => {
    await outbox.put(entry('1'));
    await outbox.update('1', { state: accepted });
    expect(await outbox.open()).toEqual([entry('1', { state: accepted })]);
    const [name = ''] = await readdir(open());
    await rm(join(open(), name));
    expect(await outbox.open()).toEqual([]);
    await outbox.collect('t', 'completed');
    expect(await readdir(closed())).toEqual([]);
  });

  test('R28 an entry that cannot be written is refused with what to do, and nothing of it is there', async () => {
    await rm(open(), { recursive: true });
    await expect(outbox.put(entry('1'))).rejects.toMatchObject({
      reason: 'STORAGE',
      retryable: true,
      message: expect.stringMatching(/sends nothing that it has not written down. Free some space/),
    });
    await mkdir(open());
    expect(await outbox.entries()).toEqual([]);
  });

  test('B1 an entry is there when put has resolved, and says what it said', async () => {
    await outbox.put(entry('1'));
    expect(await outbox.entries()).toEqual([entry('1')]);
    const [name = ''] = await readdir(open());
    expect(name).toBe(`1.${await ownProcessId()}.json`);
    expect(JSON.parse(await readFile(join(open(), name), 'utf8'))).toEqual(entry('1'));
  });

  test('changes of one entry follow each other, none is lost', async () => {
    await outbox.put(entry('1'));
    await Promise.all([outbox.update('1', { cancel: 'enough' }), outbox.update('1', { state: accepted })]);
    expect(await outbox.entries()).toEqual([entry('1', { cancel: 'enough', state: accepted })]);
  });

  test('an entry that was dropped is not brought back by a change that comes late', async () => {
    await outbox.put(entry('1'));
    await Promise.all([outbox.drop('1'), outbox.update('1', { state: accepted })]);
    expect(await outbox.entries()).toEqual([]);
  });

  test('collecting closes the entries of that task, keeps their handle and forgets their text', async () => {
    await outbox.put(entry('1', { state: accepted }));
    await outbox.put(entry('2', { state: { ...accepted, taskId: 'other' } }));
    await outbox.put(entry('3'));
    await outbox.collect('t', 'canceled');
    expect(await readdir(open())).toHaveLength(2);
    expect(await readdir(closed())).toEqual(['1.json']);
    expect((await outbox.entries()).at(-1)).toEqual(
      entry('1', {
        text: '',
        state: { ...accepted, type: 'collected', ended: 'canceled', title: 'Do it' },
      }),
    );
  });

  test('B3 only what a process that has ended has left is taken over, each entry by exactly one', async () => {
    for (const id of ['1', '2', '3']) await outbox.put(entry(id));
    expect(await hasOrphans(state)).toBe(false);
    expect(await outbox.adopt()).toEqual([]);
    await orphanAll();
    expect(await hasOrphans(state)).toBe(true);
    const others = await Promise.all(Array.from({ length: 4 }, () => Outbox.at(outboxDirectory(state))));
    const taken = (await Promise.all(others.map((each) => each.adopt()))).flat();
    expect(taken.map((each) => each.messageId).toSorted()).toEqual(['1', '2', '3']);
    expect(await hasOrphans(state)).toBe(false);
  });

  test('X3 what is no entry is left alone, and hides no other', async () => {
    await outbox.put(entry('1'));
    const own = await ownProcessId();
    await writeFile(join(open(), `2.${own}.json`), '{"version":1,"mess');
    await writeFile(join(open(), `3.${own}.json`), JSON.stringify({ ...entry('3'), version: 2 }));
    await writeFile(join(open(), 'notes.txt'), 'hello');
    expect(await outbox.entries()).toEqual([entry('1')]);
    expect(await readdir(open())).toHaveLength(4);
  });

  test('B3 what a process that has ended left half-written is removed, and what one is writing is not', async () => {
    const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(child, 'exit');
    const own = await ownProcessId();
    const dead = String(child.pid);
    const living = String(process.pid);
    await outbox.put(entry('1'));
    await writeFile(join(open(), `2.${dead}-x.json.${dead}.0a1b2c3d4e5f`), '{"version":1,"mess');
    await writeFile(join(closed(), `3.json.${dead}.0a1b2c3d4e5f`), '');
    await writeFile(join(open(), `4.${own}.json.${living}.0a1b2c3d4e5f`), '');
    await writeFile(join(open(), 'notes.txt'), 'hello');
    await removeDrafts(state);
    expect((await readdir(open())).toSorted()).toEqual(
      [`1.${own}.json`, `4.${own}.json.${living}.0a1b2c3d4e5f`, 'notes.txt'].toSorted(),
    );
    expect(await readdir(closed())).toEqual([]);
    await removeDrafts(join(state, 'nowhere'));
  });

  test('there is no outbox yet: nothing was left behind', async () => {
    expect(await hasOrphans(join(state, 'nowhere'))).toBe(false);
  });
});

describe("a process's id", () => {
  test('names this process while it runs', async () => {
    expect(await isRunning(await ownProcessId())).toBe(true);
  });

  test('does not name a process that has ended, nor another that has its pid now', async () => {
    const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(child, 'exit');
    expect(await isRunning(`${String(child.pid)}-x`)).toBe(false);
    const own = await ownProcessId();
    if (!own.endsWith('-x')) expect(await isRunning(`${String(process.pid)}-00000000zzz`)).toBe(false);
  });

  test('that is no id names nobody', async () => {
    expect(await isRunning('')).toBe(false);
    expect(await isRunning('abc')).toBe(false);
  });
});
