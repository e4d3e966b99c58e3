/** Contract tests of appends, reads and commands of a journal. */
import { describe, expect, it } from '@jest/globals';
import { buildTaskRow } from '../../../a2a-server/journal/build-task-row.ts';
import type { AppendRequest, AppendResult, Journal } from '../../../a2a-server/journal/journal.ts';
import {
  beginning,
  commandKey,
  completed,
  continuing,
  created,
  delta,
  message,
  working,
} from '../journal-samples.ts';
import type { JournalStage } from './journal-stage.ts';
export function describeAppends(on: JournalStage): void {
  describe('append and read of a journal', () => {
    it('J1 the journal numbers the events of a task 1, 2, 3 …, with the time of the clock', async () => {
      const first = await on.append(beginning('a'));
      on.now = 2_000;
      const then = await on.append(continuing('a', 2, [working, delta('hello')]));
      expect([...first, ...then].map(({ seq, at }) => [seq, at])).toEqual([
        [1, 1_000],
        [2, 1_000],
        [3, 2_000],
        [4, 2_000],
      ]);
      expect(await on.everything('a')).toEqual([...first, ...then]);
    });

    it('a read returns only entries after the cursor, and at most the requested number', async () => {
      const entries = await on.append(
        beginning('a', { events: [message('go'), working, delta('x'), delta('y')] }),
      );
      expect(await on.journal.read('a', 1, 2)).toEqual(entries.slice(1, 3));
      expect(await on.journal.read('a', 5, 10)).toEqual([]);
      expect(await on.journal.read('a', 99, 10)).toEqual([]);
      await expect(on.journal.read('a', 0, -1)).rejects.toThrow(RangeError);
    });

    it.each(['stored', 'cached'])(
      'S3 a page of %s entries ends with the entry that reaches 64 KB, or after 256 entries',
      async (where) => {
        // The journal caches only entries of watched tasks.
        if (where === 'cached') on.journal.watch('a', () => undefined);
        const large = [40_000, 40_000, 1, 200_000].map((length) => delta('x'.repeat(length)));
        const small = Array.from({ length: 300 }, () => delta('y'));
        const entries = await on.append(beginning('a', { events: [...large, ...small] }));
        const pages = await on.pages('a', 0);
        expect(pages.map((page) => page.entries.length)).toEqual([3, 2, 256, 44]);
        expect(pages.flatMap((page) => page.entries)).toEqual(entries);
        expect(await on.journal.readPage('a', 305)).toEqual({ entries: [], isLast: true });
      },
    );

    it('a read of a task that was never created finds nothing', async () => {
      expect(await on.pages('no\u0000where', 0)).toEqual([{ entries: [], isLast: true }]);
      expect(await on.everything('nowhere')).toEqual([]);
      expect(await on.journal.row('nowhere')).toBeUndefined();
      expect(await on.journal.rows(['nowhere', 'no\u0000where'])).toEqual([]);
      expect(await on.journal.command('alice', 'never sent')).toBeUndefined();
      expect(await on.journal.session('alice', 'nowhere')).toEqual([]);
      await expect(on.journal.append(continuing('nowhere', 1, [working]))).rejects.toMatchObject({
        reason: 'UNKNOWN_TASK',
      });
    });

    it.each([0, 1, 3, 99])(
      'J1 if a task has two events, an append that expects seq %i is a conflict and changes nothing',
      async (seq) => {
        const entries = await on.append(beginning('a'));
        const late = seq === 0 ? beginning('a', { sessionId: 'another' }) : continuing('a', seq, [working]);
        expect(await on.journal.append(late)).toEqual({ type: 'conflict' });
        expect(await on.everything('a')).toEqual(entries);
        expect(await on.journal.row('a')).toEqual(buildTaskRow('a', entries));
      },
    );

    it('J1 if two writers append with the same seq, exactly one succeeds, and the other leaves no gap', async () => {
      await on.append(beginning('a', { events: [working] }));
      for (let seq = 2; seq < 42; seq += 1) {
        const race = ['red', 'green', 'blue'].map((text) =>
          on.journal.append(continuing('a', seq, [delta(text)], 'working')),
        );
        const outcomes = await Promise.all(race);
        expect(outcomes.map(({ type }) => type).toSorted()).toEqual(['appended', 'conflict', 'conflict']);
      }
      expect((await on.everything('a')).map(({ seq }) => seq)).toEqual(
        Array.from({ length: 42 }, (_, i) => i + 1),
      );
    });

    it('J1 the journal stores appends without an await in the order of the calls', async () => {
      await on.append(beginning('a', { events: [working] }));
      const texts = Array.from({ length: 2_500 }, (_, index) => String(index));
      const all = texts.map((text, index) =>
        on.journal.append(continuing('a', 2 + index, [delta(text)], 'working')),
      );
      expect((await Promise.all(all)).every(({ type }) => type === 'appended')).toBe(true);
      const read = (await on.journal.read('a', 2, 10_000)).map(({ event }) =>
        event.type === 'text.delta' ? event.text : '',
      );
      expect(read).toEqual(texts);
    });

    it('a read returns entries byte for byte as they were written, also after a restart', async () => {
      let deep: unknown = 'bottom';
      for (let level = 0; level < 2_000; level += 1) deep = [deep];
      const strange = ['\0', 'half a pair \uD83D', '👩‍👩‍👧', '\u2028', '"\\', ''].map(delta);
      const data = { type: 'data' as const, data: { deep, big: 2 ** 53, small: 1e-300, nothing: null } };
      const event = {
        type: 'message.received' as const,
        message: { messageId: 'm', parts: [data] },
        channel: 'c',
      };
      const entries = await on.append(
        beginning('a', { events: [...strange, event, delta('x'.repeat(10_000_000))] }),
      );
      expect(await on.everything('a')).toEqual(entries);
      await on.reopen();
      expect(await on.everything('a')).toEqual(entries);
    });
  });

  describe('requests that no correct writer makes', () => {
    it.each<[string, AppendRequest]>([
      ['no events', { taskId: 'a', expectedSeq: 2, events: [], state: 'submitted' }],
      ['a beginning without task.created', { ...beginning('b'), events: [working], state: 'working' }],
      ['a second task.created', continuing('a', 2, [created('s')])],
      ['J3 an event behind the end', continuing('a', 2, [completed, working])],
      ['J2 a state its events do not lead to', { ...continuing('a', 2, [working]), state: 'completed' }],
      ['J2 a new state without an event for it', continuing('a', 2, [delta('x')], 'working')],
    ])('%s: is refused and changes nothing', async (_, wrong) => {
      const entries = await on.append(beginning('a'));
      const beside = on.journal.append(beginning('beside'));
      await expect(on.journal.append(wrong)).rejects.toThrow(RangeError);
      expect((await beside).type).toBe('appended');
      expect(await on.everything('a')).toEqual(entries);
      expect(await on.journal.row('b')).toBeUndefined();
    });

    it.each(['nul \0', 'half a pair \uD83D'])(
      'X3 an id that a database cannot store unchanged (%j) is MALFORMED, and matches nothing',
      async (id) => {
        const malformed = { reason: 'MALFORMED' };
        await expect(on.journal.append(beginning(id))).rejects.toMatchObject(malformed);
        await expect(on.journal.append(beginning('a', { sessionId: id }))).rejects.toMatchObject(malformed);
        await expect(on.journal.append(beginning('a', { command: commandKey(id) }))).rejects.toMatchObject(
          malformed,
        );
        await on.append(
          beginning('half a pair \uFFFD', {
            sessionId: 'half a pair \uFFFD',
            command: commandKey('half a pair \uFFFD'),
          }),
        );
        expect(await on.journal.row(id)).toBeUndefined();
        expect(await on.everything(id)).toEqual([]);
        expect(await on.journal.command('alice', id)).toBeUndefined();
        expect(await on.journal.session('alice', id)).toEqual([]);
        expect(await on.journal.list({ principal: 'alice', sessionId: id }, { size: 5 })).toEqual({
          rows: [],
          tokens: [],
          total: 0,
        });
      },
    );

    it('R101 a search by the prefix of an id finds only tasks of the principal', async () => {
      for (const [taskId, principal, sessionId] of [
        ['task-ab1', 'alice', 'session-x1'],
        ['task-ab2', 'alice', 'session-x2'],
        ['task-ab3', 'bob', 'session-x1'],
      ] as const)
        await on.append(beginning(taskId, { principal, sessionId }));
      expect((await found(on.journal, 'alice', 'task-ab')).toSorted()).toEqual(['task-ab1', 'task-ab2']);
      expect(await found(on.journal, 'alice', 'session-x2')).toEqual(['task-ab2']);
      expect(await found(on.journal, 'bob', 'session-x', 'task-ab')).toEqual(['task-ab3']);
      expect(await found(on.journal, 'alice', 'task-ab3')).toEqual([]);
      expect(await found(on.journal, 'alice', 'ask-ab', 'half \uD800')).toEqual([]);
    });

    it('X3 an event that cannot be encoded as JSON is TOO_LARGE; other appends of the same commit succeed', async () => {
      // A cyclic value is deeper than the stack of every engine.
      const ring: unknown[] = [];
      ring.push(ring);
      const part = { type: 'data' as const, data: ring };
      const event = {
        type: 'message.received' as const,
        message: { messageId: 'm', parts: [part] },
        channel: 'c',
      };
      const beside = on.journal.append(beginning('beside'));
      await expect(on.journal.append(beginning('a', { events: [event] }))).rejects.toMatchObject({
        reason: 'TOO_LARGE',
      });
      expect((await beside).type).toBe('appended');
      expect(await on.journal.row('a')).toBeUndefined();
    });
  });

  describe('the commands in a journal', () => {
    it('R27 a message id that is repeated appends once, also after a restart', async () => {
      const command = commandKey('m');
      const recorded = { taskId: 'a', sessionId: 's', bodyHash: 'hash', seq: 2 };
      const outcomes = await Promise.all(
        ['a', 'b'].map((id) => on.journal.append(beginning(id, { sessionId: 's', command }))),
      );
      expect(outcomes.map(({ type }) => type)).toEqual(['appended', 'repeated']);
      await on.reopen();
      const again = await on.journal.append(beginning('c', { command }));
      expect([outcomes[1], again]).toEqual([
        { type: 'repeated', command: recorded },
        { type: 'repeated', command: recorded },
      ]);
      expect(await on.journal.command('alice', 'm')).toEqual(recorded);
      expect((await on.journal.list({ principal: 'alice' }, { size: 10 })).total).toBe(1);
    });

    it('R27 a repeated message id with another body is detected by the recorded hash', async () => {
      await on.append(beginning('a', { command: commandKey('m', 'one body') }));
      const again = await on.journal.append({
        ...continuing('a', 2, [message('other')]),
        command: commandKey('m', 'another'),
      });
      expect(again).toMatchObject({ type: 'repeated', command: { bodyHash: 'one body', taskId: 'a' } });
      expect(await on.everything('a')).toHaveLength(2);
    });

    it('a repeated command gets its first answer even if its append would conflict, or its task has ended', async () => {
      await on.append(beginning('a', { events: [working] }));
      const decide: AppendRequest = { ...continuing('a', 2, [completed]), command: commandKey('decide') };
      await on.append(decide);
      const repeated: AppendResult = {
        type: 'repeated',
        command: { taskId: 'a', sessionId: 'session of a', bodyHash: 'hash', seq: 3 },
      };
      expect(await on.journal.append(decide)).toEqual(repeated);
      expect(await on.journal.append({ ...decide, expectedSeq: 3 })).toEqual(repeated);
    });

    it('E3 a command whose append was refused is not recorded, so it may be sent again', async () => {
      await on.append(beginning('a', { sessionId: 's' }));
      const command = commandKey('m');
      expect((await on.journal.append({ ...continuing('a', 1, [working]), command })).type).toBe('conflict');
      expect((await on.journal.append(beginning('b', { sessionId: 's', command }))).type).toBe(
        'session-busy',
      );
      expect(await on.journal.command('alice', 'm')).toBeUndefined();
      expect((await on.journal.append({ ...continuing('a', 2, [working]), command })).type).toBe('appended');
    });

    it('message ids of two principals are separate', async () => {
      await on.append(beginning('a', { command: commandKey('m', 'h', 'alice') }));
      await on.append(beginning('b', { principal: 'bob', command: commandKey('m', 'h', 'bob') }));
      expect((await on.journal.command('bob', 'm'))?.taskId).toBe('b');
    });
  });
}

async function found(journal: Journal, principal: string, ...idPrefixes: string[]): Promise<string[]> {
  const { rows, total } = await journal.list({ principal, idPrefixes }, { size: 10 });
  expect(total).toBe(rows.length);
  return rows.map(({ taskId }) => taskId);
}
