/**
 * Contract tests for every implementation of the journal port. An implementation's test file runs this suite on real
 * storage and adds its own tests.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TaskEvent } from '../../a2a-server/task/events.ts';
import { indexRow } from '../../a2a-server/journal/index-row.ts';
import type {
  Append,
  AppendResult,
  Journal,
  TaskFilter,
  TaskPage,
} from '../../a2a-server/journal/journal.ts';
import { addLongTask, maintainAll } from './long-task.ts';
import {
  inputRequiredUntil,
  beginning,
  commandKey,
  completed,
  continuing,
  created,
  delta,
  FINAL_EVENTS,
  inputRequired,
  message,
  toolStarted,
  working,
} from './journal-samples.ts';

/** One storage under test. */
export interface JournalStorage {
  /** Opens a journal on the storage. Call it again only after the previous journal is closed. */
  open(clock: () => number): Promise<Journal>;
  /** Frees the storage. All its journals must be closed. */
  dispose(): Promise<void>;
}

export function describeJournal(name: string, createStorage: () => Promise<JournalStorage>): void {
  describe(`${name} keeps the contract of a journal`, () => {
    let storage: JournalStorage;
    let journal: Journal;
    let now: number;
    const clock = () => now;

    beforeEach(async () => {
      now = 1_000;
      storage = await createStorage();
      journal = await storage.open(clock);
    });

    afterEach(async () => {
      await journal.close();
      await storage.dispose();
    });

    const reopen = async () => {
      await journal.close();
      journal = await storage.open(clock);
    };

    const append = async (what: Append) => {
      const result = await journal.append(what);
      if (result.type !== 'appended') throw new Error(`the test expected to append: ${result.type}`);
      return result.entries;
    };

    const everything = (taskId: string) => journal.read(taskId, 0, 1_000_000);

    describe('append and read', () => {
      it('J1 numbers the events of a task 1, 2, 3 …, with the time of the clock', async () => {
        const first = await append(beginning('a'));
        now = 2_000;
        const then = await append(continuing('a', 2, [working, delta('hello')]));
        expect([...first, ...then].map(({ seq, at }) => [seq, at])).toEqual([
          [1, 1_000],
          [2, 1_000],
          [3, 2_000],
          [4, 2_000],
        ]);
        expect(await everything('a')).toEqual([...first, ...then]);
      });

      it('reads only entries after the cursor, and at most the requested number', async () => {
        const entries = await append(
          beginning('a', { events: [message('go'), working, delta('x'), delta('y')] }),
        );
        expect(await journal.read('a', 1, 2)).toEqual(entries.slice(1, 3));
        expect(await journal.read('a', 5, 10)).toEqual([]);
        expect(await journal.read('a', 99, 10)).toEqual([]);
        await expect(journal.read('a', 0, -1)).rejects.toThrow(RangeError);
      });

      it('finds no task that was never created', async () => {
        expect(await everything('nowhere')).toEqual([]);
        expect(await journal.row('nowhere')).toBeUndefined();
        expect(await journal.command('alice', 'never sent')).toBeUndefined();
        expect(await journal.session('alice', 'nowhere')).toEqual([]);
        await expect(journal.append(continuing('nowhere', 1, [working]))).rejects.toMatchObject({
          reason: 'UNKNOWN_TASK',
        });
      });

      it.each([0, 1, 3, 99])(
        'J1 an append that expects seq %i of a task at 2 conflicts and changes nothing',
        async (seq) => {
          const entries = await append(beginning('a'));
          const late = seq === 0 ? beginning('a', { sessionId: 'another' }) : continuing('a', seq, [working]);
          expect(await journal.append(late)).toEqual({ type: 'conflict' });
          expect(await everything('a')).toEqual(entries);
          expect(await journal.row('a')).toEqual(indexRow('a', entries));
        },
      );

      it('J1 if writers race for the same seq, exactly one wins, and the loser leaves no gap', async () => {
        await append(beginning('a', { events: [working] }));
        for (let seq = 2; seq < 42; seq += 1) {
          const race = ['red', 'green', 'blue'].map((text) =>
            journal.append(continuing('a', seq, [delta(text)], 'working')),
          );
          const outcomes = await Promise.all(race);
          expect(outcomes.map(({ type }) => type).toSorted()).toEqual(['appended', 'conflict', 'conflict']);
        }
        expect((await everything('a')).map(({ seq }) => seq)).toEqual(
          Array.from({ length: 42 }, (_, i) => i + 1),
        );
      });

      it('J1 appends without an await are stored in the order of the calls', async () => {
        await append(beginning('a', { events: [working] }));
        const texts = Array.from({ length: 2_500 }, (_, index) => String(index));
        const all = texts.map((text, index) =>
          journal.append(continuing('a', 2 + index, [delta(text)], 'working')),
        );
        expect((await Promise.all(all)).every(({ type }) => type === 'appended')).toBe(true);
        const read = (await journal.read('a', 2, 10_000)).map(({ event }) =>
          event.type === 'text.delta' ? event.text : '',
        );
        expect(read).toEqual(texts);
      });

      it('returns entries byte for byte as they were written, also after a restart', async () => {
        let deep: unknown = 'bottom';
        for (let level = 0; level < 2_000; level += 1) deep = [deep];
        const strange = ['\0', 'half a pair \uD83D', '👩‍👩‍👧', '\u2028', '"\\', ''].map(delta);
        const data = { type: 'data' as const, data: { deep, big: 2 ** 53, small: 1e-300, nothing: null } };
        const event = {
          type: 'message.received' as const,
          message: { messageId: 'm', parts: [data] },
          channel: 'c',
        };
        const entries = await append(
          beginning('a', { events: [...strange, event, delta('x'.repeat(10_000_000))] }),
        );
        expect(await everything('a')).toEqual(entries);
        await reopen();
        expect(await everything('a')).toEqual(entries);
      });
    });

    describe('requests that no correct writer makes', () => {
      it.each<[string, Append]>([
        ['no events', { taskId: 'a', expectedSeq: 2, events: [], state: 'submitted' }],
        ['a beginning without task.created', { ...beginning('b'), events: [working], state: 'working' }],
        ['a second task.created', continuing('a', 2, [created('s')])],
        ['J3 an event behind the end', continuing('a', 2, [completed, working])],
        ['J2 a state its events do not lead to', { ...continuing('a', 2, [working]), state: 'completed' }],
        ['J2 a new state without an event for it', continuing('a', 2, [delta('x')], 'working')],
      ])('%s: is refused and changes nothing', async (_, wrong) => {
        const entries = await append(beginning('a'));
        const beside = journal.append(beginning('beside'));
        await expect(journal.append(wrong)).rejects.toThrow(RangeError);
        expect((await beside).type).toBe('appended');
        expect(await everything('a')).toEqual(entries);
        expect(await journal.row('b')).toBeUndefined();
      });

      it.each(['nul \0', 'half a pair \uD83D'])(
        'X3 an id that a database cannot store unchanged (%j) is MALFORMED, and matches nothing',
        async (id) => {
          const malformed = { reason: 'MALFORMED' };
          await expect(journal.append(beginning(id))).rejects.toMatchObject(malformed);
          await expect(journal.append(beginning('a', { sessionId: id }))).rejects.toMatchObject(malformed);
          await expect(journal.append(beginning('a', { command: commandKey(id) }))).rejects.toMatchObject(
            malformed,
          );
          await append(
            beginning('half a pair \uFFFD', {
              sessionId: 'half a pair \uFFFD',
              command: commandKey('half a pair \uFFFD'),
            }),
          );
          expect(await journal.row(id)).toBeUndefined();
          expect(await everything(id)).toEqual([]);
          expect(await journal.command('alice', id)).toBeUndefined();
          expect(await journal.session('alice', id)).toEqual([]);
          expect(await journal.list({ principal: 'alice', sessionId: id }, { size: 5 })).toEqual({
            rows: [],
            total: 0,
          });
        },
      );

      it('R101 finds tasks by the prefix of an id, and only those of the principal', async () => {
        for (const [taskId, principal, sessionId] of [
          ['task-ab1', 'alice', 'session-x1'],
          ['task-ab2', 'alice', 'session-x2'],
          ['task-ab3', 'bob', 'session-x1'],
        ] as const)
          await append(beginning(taskId, { principal, sessionId }));
        expect((await found(journal, 'alice', 'task-ab')).toSorted()).toEqual(['task-ab1', 'task-ab2']);
        expect(await found(journal, 'alice', 'session-x2')).toEqual(['task-ab2']);
        expect(await found(journal, 'bob', 'session-x', 'task-ab')).toEqual(['task-ab3']);
        expect(await found(journal, 'alice', 'task-ab3')).toEqual([]);
        expect(await found(journal, 'alice', 'ask-ab', 'half \uD800')).toEqual([]);
      });

      it('X3 an event that cannot be encoded as JSON is TOO_LARGE; the appends beside it succeed', async () => {
        // A cyclic value is deeper than the stack of every engine.
        const ring: unknown[] = [];
        ring.push(ring);
        const part = { type: 'data' as const, data: ring };
        const event = {
          type: 'message.received' as const,
          message: { messageId: 'm', parts: [part] },
          channel: 'c',
        };
        const beside = journal.append(beginning('beside'));
        await expect(journal.append(beginning('a', { events: [event] }))).rejects.toMatchObject({
          reason: 'TOO_LARGE',
        });
        expect((await beside).type).toBe('appended');
        expect(await journal.row('a')).toBeUndefined();
      });
    });

    describe('the end of a task', () => {
      it.each(FINAL_EVENTS.map((end) => [end.type, end] as const))(
        'J3 nothing follows %s',
        async (_, end) => {
          const entries = await append(beginning('a', { events: [working, end] }));
          const { state } = continuing('a', 3, [end]);
          for (const more of [[delta('late')], [working], [end]]) {
            await expect(journal.append(continuing('a', 3, more, state))).rejects.toMatchObject({
              reason: 'TASK_ENDED',
            });
          }
          await reopen();
          await expect(journal.append(continuing('a', 3, [working]))).rejects.toMatchObject({
            reason: 'TASK_ENDED',
          });
          expect(await journal.append(continuing('a', 2, [working]))).toEqual({ type: 'conflict' });
          expect(await everything('a')).toEqual(entries);
        },
      );

      it.each(FINAL_EVENTS.map((end) => [end.type, end] as const))(
        'J3 nothing follows %s even if it was requested at the same moment',
        async (_, end) => {
          await append(beginning('a', { events: [working] }));
          const { state } = continuing('a', 2, [end]);
          const [last, late] = await Promise.allSettled([
            journal.append(continuing('a', 2, [end])),
            journal.append(continuing('a', 3, [delta('late')], state)),
          ]);
          expect([last.status, late]).toMatchObject(['fulfilled', { reason: { reason: 'TASK_ENDED' } }]);
          expect(await journal.row('a')).toEqual(indexRow('a', await everything('a')));
        },
      );

      it('J3 only one of two racing ends is written', async () => {
        await append(beginning('a', { events: [working] }));
        const outcomes = await Promise.all(
          FINAL_EVENTS.map((end) => journal.append(continuing('a', 2, [end]))),
        );
        expect(outcomes.map(({ type }) => type)).toEqual(['appended', 'conflict', 'conflict', 'conflict']);
        expect((await journal.row('a'))?.state).toBe('completed');
      });
    });

    describe('sessions', () => {
      it('has one live task per session: a second one is refused, and the error names the first', async () => {
        await append(beginning('a', { sessionId: 's' }));
        expect(await journal.append(beginning('b', { sessionId: 's' }))).toEqual({
          type: 'session-busy',
          taskId: 'a',
        });
        await append(continuing('a', 2, [working, inputRequired]));
        expect(await journal.append(beginning('b', { sessionId: 's' }))).toEqual({
          type: 'session-busy',
          taskId: 'a',
        });
        expect(await journal.row('b')).toBeUndefined();
      });

      it('creates one task if several start at once in one session', async () => {
        const outcomes = await Promise.all(
          ['a', 'b', 'c'].map((id) => journal.append(beginning(id, { sessionId: 's' }))),
        );
        expect(outcomes.map(({ type }) => type)).toEqual(['appended', 'session-busy', 'session-busy']);
        expect(outcomes[1]).toEqual({ type: 'session-busy', taskId: 'a' });
      });

      it.each(FINAL_EVENTS.map((end) => [end.type, end] as const))(
        'creates the next task of a session right after %s, even at the same moment',
        async (_, end) => {
          await append(beginning('a', { sessionId: 's', events: [working] }));
          const [last, next] = await Promise.all([
            journal.append(continuing('a', 2, [end])),
            journal.append(beginning('b', { sessionId: 's' })),
          ]);
          expect([last.type, next.type]).toEqual(['appended', 'appended']);
          expect((await journal.session('alice', 's')).map(({ taskId }) => taskId)).toEqual(['a', 'b']);
        },
      );

      it('keeps the sessions of different principals apart, even with the same name', async () => {
        await append(beginning('a', { sessionId: 's', principal: 'alice' }));
        await append(beginning('b', { sessionId: 's', principal: 'bob' }));
        expect((await journal.session('alice', 's')).map(({ taskId }) => taskId)).toEqual(['a']);
        expect((await journal.session('bob', 's')).map(({ taskId }) => taskId)).toEqual(['b']);
        expect(await journal.session('carol', 's')).toEqual([]);
      });
    });

    describe('commands', () => {
      it('R27 a repeated message id appends once, at once and after a restart', async () => {
        const command = commandKey('m');
        const recorded = { taskId: 'a', sessionId: 's', bodyHash: 'hash', seq: 2 };
        const outcomes = await Promise.all(
          ['a', 'b'].map((id) => journal.append(beginning(id, { sessionId: 's', command }))),
        );
        expect(outcomes.map(({ type }) => type)).toEqual(['appended', 'repeated']);
        await reopen();
        const again = await journal.append(beginning('c', { command }));
        expect([outcomes[1], again]).toEqual([
          { type: 'repeated', command: recorded },
          { type: 'repeated', command: recorded },
        ]);
        expect(await journal.command('alice', 'm')).toEqual(recorded);
        expect((await journal.list({ principal: 'alice' }, { size: 10 })).total).toBe(1);
      });

      it('R27 a repeated message id with another body is detected by the recorded hash', async () => {
        await append(beginning('a', { command: commandKey('m', 'one body') }));
        const again = await journal.append({
          ...continuing('a', 2, [message('other')]),
          command: commandKey('m', 'another'),
        });
        expect(again).toMatchObject({ type: 'repeated', command: { bodyHash: 'one body', taskId: 'a' } });
        expect(await everything('a')).toHaveLength(2);
      });

      it('a repeated command gets its first answer even if its append would conflict, or its task has ended', async () => {
        await append(beginning('a', { events: [working] }));
        const decide: Append = { ...continuing('a', 2, [completed]), command: commandKey('decide') };
        await append(decide);
        const repeated: AppendResult = {
          type: 'repeated',
          command: { taskId: 'a', sessionId: 'session of a', bodyHash: 'hash', seq: 3 },
        };
        expect(await journal.append(decide)).toEqual(repeated);
        expect(await journal.append({ ...decide, expectedSeq: 3 })).toEqual(repeated);
      });

      it('E3 a command whose append was refused is not recorded, so it may be sent again', async () => {
        await append(beginning('a', { sessionId: 's' }));
        const command = commandKey('m');
        expect((await journal.append({ ...continuing('a', 1, [working]), command })).type).toBe('conflict');
        expect((await journal.append(beginning('b', { sessionId: 's', command }))).type).toBe('session-busy');
        expect(await journal.command('alice', 'm')).toBeUndefined();
        expect((await journal.append({ ...continuing('a', 2, [working]), command })).type).toBe('appended');
      });

      it('keeps the message ids of different principals apart', async () => {
        await append(beginning('a', { command: commandKey('m', 'h', 'alice') }));
        await append(beginning('b', { principal: 'bob', command: commandKey('m', 'h', 'bob') }));
        expect((await journal.command('bob', 'm'))?.taskId).toBe('b');
      });
    });

    describe('the index', () => {
      it('J2 the row of a task agrees with its entries, at every step and after a restart', async () => {
        await append(beginning('a', { events: [] }));
        const steps = [
          [message('\n  Write a poem \r\nabout rain')],
          [working],
          [delta('x')],
          [inputRequired],
          [working, completed],
        ];
        for (const events of steps) {
          now += 10;
          const row = await journal.row('a');
          await append(continuing('a', row?.seq ?? 0, events, row?.state));
          expect(await journal.row('a')).toEqual(indexRow('a', await everything('a')));
        }
        const last = await journal.row('a');
        expect(last).toMatchObject({
          title: 'Write a poem',
          state: 'completed',
          seq: 7,
          createdAt: 1_000,
          updatedAt: 1_050,
        });
        await reopen();
        expect(await journal.row('a')).toEqual(last);
      });

      it('finds all active tasks at a restart, of every principal, oldest first', async () => {
        await append(beginning('submitted', { principal: 'bob' }));
        await append(beginning('parked', { events: [working, inputRequired] }));
        await append(beginning('ended', { events: [working, completed] }));
        await append(beginning('moving', { events: [working] }));
        await append(continuing('submitted', 2, [delta('touched last')]));
        await reopen();
        expect((await journal.unsettled()).map(({ taskId }) => taskId)).toEqual(['submitted', 'moving']);
      });

      it('R14 has each deadline, the earliest first, while its task is parked on it', async () => {
        await append(beginning('late', { events: [working, until(9_000)] }));
        await append(beginning('early', { principal: 'bob', events: [working, until(5_000)] }));
        await append(beginning('endless', { events: [working, until(null)] }));
        await append(beginning('moved', { events: [working, until(1_000)] }));
        await append(continuing('moved', 3, [working]));
        await append(beginning('ended', { events: [working, until(2_000)] }));
        await append(continuing('ended', 3, [completed]));
        await append(continuing('endless', 3, [until(8_000)]));
        const all = [
          ['early', 5_000],
          ['endless', 8_000],
          ['late', 9_000],
        ];
        expect([await deadlines(journal, 2), await deadlines(journal, 10)]).toEqual([all.slice(0, 2), all]);
        await reopen();
        expect(await deadlines(journal, 10)).toEqual(all);
        for (const taskId of ['late', 'early', 'endless', 'moved', 'ended'])
          expect(await journal.row(taskId)).toEqual(indexRow(taskId, await everything(taskId)));
      });

      it('lists the latest update first, and each task on exactly one page, even if times are equal', async () => {
        for (let index = 0; index < 25; index += 1) {
          now = 1_000 + Math.floor(index / 4);
          await append(beginning(`task ${index}`));
        }
        now = 2_000;
        await append(continuing('task 3', 2, [working]));
        await append(beginning('not hers', { principal: 'bob' }));
        const expected = [
          'task 3',
          ...Array.from({ length: 25 }, (_, i) => `task ${24 - i}`).filter((id) => id !== 'task 3'),
        ];
        for (const size of [1, 4, 7, 24, 25, 26]) {
          const pages = await pagesOf(journal, size);
          expect(pages.flatMap(({ rows }) => rows.map(({ taskId }) => taskId))).toEqual(expected);
          expect(pages).toHaveLength(Math.ceil(25 / size));
          expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([25]));
        }
      });

      it('lists by session, by state and by time of update, alone and together', async () => {
        await append(beginning('a', { sessionId: 's', events: [working, completed] }));
        now = 2_000;
        await append(beginning('b', { sessionId: 's', events: [working] }));
        await append(beginning('c', { events: [working] }));
        expect(await idsOf(journal, {})).toEqual(['c', 'b', 'a']);
        expect(await idsOf(journal, { sessionId: 's' })).toEqual(['b', 'a']);
        expect(await idsOf(journal, { states: ['working', 'failed'] })).toEqual(['c', 'b']);
        expect(await idsOf(journal, { states: [] })).toEqual([]);
        expect(await idsOf(journal, { updatedSince: 2_000 })).toEqual(['c', 'b']);
        expect(await idsOf(journal, { updatedSince: 2_001 })).toEqual([]);
        expect(await idsOf(journal, { sessionId: 's', states: ['working'], updatedSince: 1_500 })).toEqual([
          'b',
        ]);
      });

      it.each(['', 'x', 'WzEsMl0=', 'WzEsIDJd', 'WzEuNSwyXQ', 'bm90IGpzb24', '💥', 'A'.repeat(100_000)])(
        'a foreign page token is MALFORMED (%#)',
        async (token) => {
          const list = journal.list({ principal: 'alice' }, { size: 10, token });
          await expect(list).rejects.toMatchObject({ reason: 'MALFORMED' });
        },
      );
    });

    describe('toolExecution', () => {
      it('R41 names the task of every tool execution, as long as the task is kept', async () => {
        await append(beginning('a', { events: [message('do it'), working, toolStarted('x-1')] }));
        await append(continuing('a', 4, [toolStarted('x-2'), completed]));
        await reopen();
        const known = { taskId: 'a', principal: 'alice' };
        expect([await journal.toolExecution('x-1'), await journal.toolExecution('x-2')]).toEqual([
          known,
          known,
        ]);
        for (const none of ['x', '', 'x-1\0', 'x'.repeat(10_000)])
          expect(await journal.toolExecution(none)).toBeUndefined();
        expect(await journal.deleteEndedSessions(now + 1, 10)).toBe(1);
        expect(await journal.toolExecution('x-1')).toBeUndefined();
      });
    });

    describe('forget', () => {
      it('deletes an ended session with its message ids: the same message is then new', async () => {
        const command = commandKey('m');
        await append(beginning('a', { sessionId: 's', command, events: [working, delta('x'), completed] }));
        await append(beginning('b', { sessionId: 's', events: [working, completed] }));
        now = 5_000;
        expect(await journal.deleteEndedSessions(1_000, 10)).toBe(0);
        expect(await journal.deleteEndedSessions(1_001, 10)).toBe(1);
        expect([await everything('a'), await journal.row('a'), await journal.command('alice', 'm')]).toEqual([
          [],
          undefined,
          undefined,
        ]);
        expect([await journal.session('alice', 's'), await countOf(journal)]).toEqual([[], 0]);
        await expect(journal.append(continuing('a', 4, [working]))).rejects.toMatchObject({
          reason: 'UNKNOWN_TASK',
        });
        await reopen();
        expect((await append(beginning('c', { sessionId: 's', command }))).map(({ seq }) => seq)).toEqual([
          1, 2,
        ]);
      });

      it('keeps a session with a live or recently ended task, with all of its history', async () => {
        const ended = [working, completed];
        await append(beginning('old', { sessionId: 'live', events: ended }));
        await append(beginning('old too', { sessionId: 'fresh', events: ended }));
        await append(beginning('namesake', { sessionId: 'live', principal: 'bob', events: ended }));
        await append(beginning('parked', { sessionId: 'live', events: [working, inputRequired] }));
        now = 9_000;
        await append(beginning('new', { sessionId: 'fresh', events: ended }));
        expect(await journal.deleteEndedSessions(9_000, 10)).toBe(1);
        expect([await countOf(journal), await journal.row('namesake')]).toEqual([4, undefined]);
        expect(await everything('old')).toHaveLength(3);
      });

      it('deletes at most the given number of sessions at once, until none is left', async () => {
        for (const id of ['a', 'b', 'c', 'd', 'e'])
          await append(beginning(id, { events: [working, completed] }));
        const deleted: number[] = [];
        for (let round = 0; round < 4; round += 1) deleted.push(await journal.deleteEndedSessions(2_000, 2));
        expect([deleted, await countOf(journal)]).toEqual([[2, 2, 1, 0], 0]);
      });
    });

    describe('maintain', () => {
      it('S1 S2 changes no answer: from every cursor, in any number at once, the entries are the same', async () => {
        await addLongTask(journal, 'a', () => (now += 1));
        await append(continuing('a', 3_110, [completed]));
        const before = await everything('a');
        const row = await journal.row('a');
        expect(await maintainAll(journal)).toBeGreaterThan(before.length / 2);
        expect(await everything('a')).toEqual(before);
        await reopen();
        for (const [limit, step] of [
          [1, 1],
          [7, 3],
          [256, 101],
          [5_000, 499],
        ] as const) {
          for (let after = 0; after <= before.length; after += step)
            expect(await journal.read('a', after, limit)).toEqual(before.slice(after, after + limit));
        }
        expect(await journal.read('a', before.length, 10)).toEqual([]);
        expect(await journal.row('a')).toEqual(row);
        expect(await maintainAll(journal)).toBe(0);
      });

      it('J1 does not touch active tasks, and continues with tasks that have grown since', async () => {
        const moving = await addLongTask(journal, 'a', () => (now += 1));
        expect(await maintainAll(journal)).toBe(0);
        await append(continuing('a', moving.length, [inputRequired]));
        expect(await maintainAll(journal)).toBeGreaterThan(moving.length / 2);
        const more = Array.from({ length: 600 }, (_, i) => delta(String(i)));
        await append(continuing('a', moving.length + 1, [working, ...more], 'working'));
        await append(continuing('a', moving.length + 602, [completed]));
        const before = await everything('a');
        expect(before.map(({ seq }) => seq)).toEqual(before.map((_, i) => i + 1));
        expect(await maintainAll(journal)).toBeGreaterThan(300);
        expect(await everything('a')).toEqual(before);
        expect(await journal.deleteEndedSessions(now + 1, 10)).toBe(1);
        expect(await everything('a')).toEqual([]);
      });
    });

    describe('watch', () => {
      it('E5 wakes after each append to the task, when its entries can be read, and at no other time', async () => {
        await append(beginning('a', { events: [working] }));
        await append(beginning('b'));
        const seen: number[] = [];
        const reads: Promise<unknown>[] = [];
        const stop = journal.watch('a', () => {
          reads.push(journal.read('a', 0, 100).then((entries) => seen.push(entries.length)));
        });
        await append(continuing('b', 2, [working]));
        await journal.append(continuing('a', 1, [delta('conflicts')], 'working'));
        await Promise.all(reads);
        expect(seen).toEqual([]);
        await append(continuing('a', 2, [delta('one')], 'working'));
        await append(continuing('a', 3, [delta('two')], 'working'));
        await Promise.all(reads);
        expect(seen).toEqual([3, 4]);
        stop();
        await append(continuing('a', 4, [delta('three')], 'working'));
        await Promise.all(reads);
        expect(seen).toEqual([3, 4]);
      });

      it('wakes all watchers, and each can stop alone', async () => {
        await append(beginning('a', { events: [working] }));
        const woken: string[] = [];
        const wake = () => void woken.push('same');
        const stops = [
          journal.watch('a', wake),
          journal.watch('a', wake),
          journal.watch('a', () => void woken.push('other')),
        ];
        await append(continuing('a', 2, [delta('x')], 'working'));
        expect(woken).toEqual(['same', 'same', 'other']);
        stops[0]?.();
        stops[0]?.();
        await append(continuing('a', 3, [delta('x')], 'working'));
        expect(woken).toEqual(['same', 'same', 'other', 'same', 'other']);
        stops.forEach((stop) => stop());
      });

      it('wakes a watcher of a task that does not exist yet', async () => {
        const woken = new Promise<void>((resolve) => void journal.watch('a', resolve));
        await append(beginning('a'));
        await woken;
      });
    });

    describe('close', () => {
      it('E3 stores earlier appends, and answers later ones with SHUTTING_DOWN', async () => {
        const before = journal.append(beginning('a'));
        await journal.close();
        await journal.close();
        expect((await before).type).toBe('appended');
        const closed = { reason: 'SHUTTING_DOWN' };
        await expect(journal.append(beginning('b'))).rejects.toMatchObject(closed);
        await expect(journal.read('a', 0, 1)).rejects.toMatchObject(closed);
        await expect(journal.list({ principal: 'alice' }, { size: 1 })).rejects.toMatchObject(closed);
        journal = await storage.open(clock);
        expect(await everything('a')).toHaveLength(2);
        expect(await journal.row('b')).toBeUndefined();
      });
    });
  });
}

function until(ms: number | null): TaskEvent {
  return inputRequiredUntil(ms === null ? null : new Date(ms).toISOString());
}

async function deadlines(journal: Journal, limit: number): Promise<unknown[]> {
  return (await journal.deadlines(limit)).map(({ taskId, deadline }) => [taskId, deadline]);
}

async function countOf(journal: Journal): Promise<number> {
  return (await journal.list({ principal: 'alice' }, { size: 1 })).total;
}

async function pagesOf(journal: Journal, size: number): Promise<TaskPage[]> {
  const pages = [await journal.list({ principal: 'alice' }, { size })];
  for (let token = pages[0]?.next; token !== undefined; token = pages.at(-1)?.next) {
    pages.push(await journal.list({ principal: 'alice' }, { size, token }));
    if (pages.length > 100) throw new Error('the pages have no end');
  }
  return pages;
}

async function idsOf(journal: Journal, filter: Omit<TaskFilter, 'principal'>): Promise<string[]> {
  const page = await journal.list({ principal: 'alice', ...filter }, { size: 10 });
  expect(page.total).toBe(page.rows.length);
  return page.rows.map(({ taskId }) => taskId);
}

async function found(journal: Journal, principal: string, ...idPrefixes: string[]): Promise<string[]> {
  const { rows, total } = await journal.list({ principal, idPrefixes }, { size: 10 });
  expect(total).toBe(rows.length);
  return rows.map(({ taskId }) => taskId);
}
