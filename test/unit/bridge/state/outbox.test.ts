import { beforeEach, describe, expect, test } from '@jest/globals';
import type { OutboxEntry } from '../../../../bridge/state/outbox-entry.ts';
import type { BridgeDatabase } from '../../../../bridge/state/database.ts';
import { Outbox } from '../../../../bridge/state/outbox.ts';
import { hasOrphanedWork } from '../../../../bridge/state/has-orphaned-work.ts';
import { endedProcessId, openDatabase } from '../../../support/bridge-database.ts';
import { outboxEntry } from '../../../support/outbox-entry.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const entry = (messageId: string, changes: Partial<OutboxEntry> = {}): OutboxEntry =>
  outboxEntry(messageId, {
    createdAt: `2026-01-01T00:00:00.${messageId.padStart(3, '0')}Z`,
    ...changes,
  });
const ids = (entries: readonly OutboxEntry[]): string[] => entries.map(({ messageId }) => messageId);
const accepted = { type: 'accepted', taskId: 't', sessionId: 's' } as const;

describe('the outbox of the bridges', () => {
  let state: string;
  let database: BridgeDatabase;
  let outbox: Outbox;

  beforeEach(async () => {
    state = await temporaryDirectory();
    database = await openDatabase(state);
    outbox = new Outbox(database);
  });

  /** Opens the outbox of an ended process. */
  const endedOutbox = async (): Promise<Outbox> =>
    new Outbox(await openDatabase(state, await endedProcessId()));

  test('B1 after put has returned, every bridge reads the entry as it was written', async () => {
    const full = entry('1', {
      settings: { workspace: '/w', autoExecute: true },
      command: { command: 'init', args: ['a'] },
      sessionId: 'q',
      taskId: 'r',
    });
    outbox.put(full);
    expect(new Outbox(await openDatabase(state)).entries()).toEqual([full]);
    expect(outbox.sending()).toEqual([full]);
  });

  test('R28 an entry that cannot be written is refused with the next step, and no part of it is stored', async () => {
    database.run('PRAGMA query_only = 1');
    expect(() => outbox.put(entry('1'))).toThrow(
      expect.objectContaining({
        reason: 'STORAGE',
        retryable: true,
        message: expect.stringMatching(/so it sent nothing\. Free some space/),
      }),
    );
    expect(outbox.entries()).toEqual([]);
  });

  test('an update changes only its own fields, and a late update does not restore a deleted entry', () => {
    outbox.put(entry('1'));
    outbox.update('1', { cancel: 'enough' });
    outbox.update('1', { state: accepted, answered: true });
    expect(outbox.entries()).toEqual([entry('1', { cancel: 'enough', state: accepted, answered: true })]);
    outbox.drop('1');
    outbox.update('1', { state: accepted });
    expect(outbox.entries()).toEqual([]);
  });

  test('collecting a result closes the task’s entries, keeps their ids and deletes their text', () => {
    outbox.put(entry('1', { state: accepted }));
    outbox.put(entry('2', { state: { ...accepted, taskId: 'other' } }));
    outbox.put(entry('3'));
    outbox.put(entry('4', { state: accepted, agent: 'other' }));
    outbox.collect({ agent: 'local', taskId: 't', sessionId: 's' }, 'canceled');
    expect(outbox.open().map(({ messageId }) => messageId)).toEqual(['2', '3', '4']);
    expect(outbox.entries().at(-1)).toEqual(
      entry('1', { text: '', state: { ...accepted, type: 'collected', ended: 'canceled' } }),
    );
    // An update must not change a closed entry.
    outbox.update('1', { answered: true });
    expect(outbox.entries().at(-1)).toMatchObject({ answered: false });
  });

  test('answers without a task are told apart by their session', () => {
    outbox.put(entry('1', { state: { ...accepted, taskId: '', sessionId: 's1' } }));
    outbox.put(entry('2', { state: { ...accepted, taskId: '', sessionId: 's2' } }));
    outbox.collect({ agent: 'local', taskId: '', sessionId: 's2' }, 'completed');
    expect(outbox.open().map(({ messageId }) => messageId)).toEqual(['1']);
    expect(outbox.listUnfinishedTasks(10)).toEqual([{ agent: 'local', taskId: '', sessionId: 's1' }]);
    expect(outbox.findByTaskOrMessage('local', '', '3')).toBeUndefined();
  });

  test('the title of a task is told only while the process has another open task', () => {
    outbox.put(entry('1', { state: accepted, title: 'First' }));
    outbox.put(entry('2', { state: accepted, title: 'A later message to the same task' }));
    expect(outbox.titleAmongSeveral('t')).toBeUndefined();
    outbox.put(entry('3', { state: { ...accepted, taskId: 'other' }, title: 'Second' }));
    expect(['t', 'other', 'unknown'].map((id) => outbox.titleAmongSeveral(id))).toEqual([
      'First',
      'Second',
      undefined,
    ]);
    outbox.collect({ agent: 'local', taskId: 'other', sessionId: 's' }, 'completed');
    expect(outbox.titleAmongSeveral('t')).toBeUndefined();
  });

  test('two agents may choose the same id for a task', () => {
    outbox.put(entry('1', { state: accepted, title: 'First' }));
    outbox.put(entry('2', { state: accepted, title: 'Second', agent: 'other' }));
    outbox.put(entry('3', { state: { ...accepted, taskId: 'u' }, title: 'Third' }));
    // Only the form knows the id, so the title is not told rather than guessed.
    expect(['t', 'u'].map((id) => outbox.titleAmongSeveral(id))).toEqual([undefined, 'Third']);
    expect(['local', 'other'].map((agent) => outbox.findByTaskOrMessage(agent, 't', '')?.title)).toEqual([
      'First',
      'Second',
    ]);
    outbox.collect({ agent: 'local', taskId: 'u', sessionId: 's' }, 'completed');
    outbox.update('2', { state: { ...accepted, taskId: 'v' } });
    expect(outbox.titleAmongSeveral('t')).toBe('First');
  });

  test('the contents of files are written with their entry, and deleted when the entry is collected or dropped', async () => {
    const bytes = new Uint8Array([0, 1, 255]);
    const files = [{ name: 'a.png', mediaType: 'image/png', hash: 'h' }];
    const contents = new Map([['h', bytes]]);
    outbox.put(entry('1', { state: accepted, files }), contents);
    outbox.put(entry('2', { files }), contents);
    const other = new Outbox(await openDatabase(state));
    expect(other.open()[0]?.files).toEqual(files);
    expect([...(other.contents('1').get('h') ?? [])]).toEqual([...bytes]);
    outbox.collect({ agent: 'local', taskId: 't', sessionId: 's' }, 'completed');
    outbox.drop('2');
    expect([other.contents('1').size, other.contents('2').size]).toEqual([0, 0]);
  });

  test('only the newest 500 closed entries are kept', () => {
    for (let at = 0; at < 502; at++) {
      const createdAt = new Date(1_700_000_000_000 + at).toISOString();
      outbox.put(entry(String(at), { createdAt, state: { ...accepted, taskId: `t${String(at)}` } }));
      outbox.collect({ agent: 'local', taskId: `t${String(at)}`, sessionId: 's' }, 'completed');
    }
    expect(outbox.entries()).toHaveLength(500);
    expect(outbox.entries()[0]?.messageId).toBe('2');
  });

  test('only the newest 500 lost entries are kept, and the closed entries beside them', () => {
    outbox.put(entry('0', { state: accepted }));
    outbox.collect({ agent: 'local', taskId: 't', sessionId: 's' }, 'completed');
    for (let at = 1; at < 503; at++) {
      outbox.put(entry(String(at), { createdAt: new Date(1_800_000_000_000 + at).toISOString() }));
      outbox.update(String(at), { state: { type: 'lost', message: 'It may have arrived.' } });
    }
    expect(outbox.open()).toHaveLength(500);
    expect(ids(outbox.entries())).toEqual(expect.arrayContaining(['0', '3', '502']));
  });

  test('an entry is found by the id of its message, task or session, and the newest entry is the last, even if older ones are closed', () => {
    outbox.put(entry('1', { state: accepted }));
    outbox.collect({ agent: 'local', taskId: 't', sessionId: 's' }, 'completed');
    outbox.put(entry('2', { state: { ...accepted, taskId: 'u' } }));
    outbox.put(entry('3', { state: { ...accepted, taskId: 'v' }, agent: 'other' }));
    expect(outbox.findByHandle('1').map(({ messageId }) => messageId)).toEqual(['1']);
    expect(outbox.findByHandle('u').map(({ messageId }) => messageId)).toEqual(['2']);
    expect(outbox.findByHandle('s', 'local').map(({ messageId }) => messageId)).toEqual(['1', '2']);
    expect(outbox.findByHandle('nobody')).toEqual([]);
  });

  test('B3 a bridge takes over only the entries of an ended process, and exactly one bridge gets each entry', async () => {
    outbox.put(entry('1'));
    expect(await hasOrphanedWork(state)).toBe(false);
    const gone = await endedOutbox();
    // A lost message needs no bridge at its start.
    gone.put(entry('5', { state: { type: 'lost', message: 'away' } }));
    expect(await hasOrphanedWork(state)).toBe(false);
    for (const id of ['2', '3', '4']) gone.put(entry(id));
    expect(await hasOrphanedWork(state)).toBe(true);
    const own = String(process.pid);
    const others = await Promise.all(
      Array.from(
        { length: 4 },
        async (_, at) => new Outbox(await openDatabase(state, `${own}-x${String(at)}`)),
      ),
    );
    const taken = (await Promise.all(others.map((each) => each.takeOverOrphaned()))).flat();
    expect(taken.map((each) => each.messageId).toSorted()).toEqual(['2', '3', '4', '5']);
  });

  test('R99 the next process takes over released entries at once, but no entry that another process still sends', async () => {
    outbox.put(entry('1', { state: accepted }));
    outbox.put(entry('2'));
    outbox.release();
    const next = new Outbox(await openDatabase(state, `${String(process.pid)}-x`));
    expect((await next.takeOverOrphaned()).map(({ messageId }) => messageId)).toEqual(['1']);
    expect(outbox.sending().map(({ messageId }) => messageId)).toEqual(['2']);
  });

  test('R99 a process finds its open entries by title, and the tasks that it must cancel', async () => {
    outbox.put(entry('1'));
    outbox.put(entry('2', { state: accepted, cancel: 'asked' }));
    outbox.put(entry('3', { title: 'Do another thing', cancel: 'asked' }));
    outbox.put(entry('4', { state: { type: 'collected', sessionId: 's', taskId: 'u', ended: 'completed' } }));
    new Outbox(await openDatabase(state, 'another')).put(entry('5', { state: accepted, cancel: 'asked' }));
    expect(ids(outbox.openWithTitle('Do it'))).toEqual(['1', '2']);
    expect(ids(outbox.cancels())).toEqual(['2']);
  });

  test('a row that this version cannot read is reported as damage', () => {
    outbox.put(entry('1'));
    database.run(`UPDATE delegations SET work = 'no json'`);
    expect(() => outbox.entries()).toThrow(expect.objectContaining({ reason: 'STORAGE' }));
  });
});
