/**
 * Contract tests for every implementation of the journal port. An implementation's test file runs this suite on real
 * storage and adds its own tests.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import type { CostRow } from '../../a2a-server/task/costs/cost-sum.ts';
import type { TaskEvent } from '../../a2a-server/task/events.ts';
import { indexRow } from '../../a2a-server/journal/index-row.ts';
import type {
  AppendRequest,
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
import { STRIDE } from './property-runs.ts';

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

    const append = async (what: AppendRequest) => {
      const result = await journal.append(what);
      if (result.type !== 'appended') throw new Error(`the test expected to append: ${result.type}`);
      return result.entries;
    };

    const everything = (taskId: string) => journal.read(taskId, 0, 1_000_000);

    describe('append and read of a journal', () => {
      it('J1 the journal numbers the events of a task 1, 2, 3 …, with the time of the clock', async () => {
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

      it('a read returns only entries after the cursor, and at most the requested number', async () => {
        const entries = await append(
          beginning('a', { events: [message('go'), working, delta('x'), delta('y')] }),
        );
        expect(await journal.read('a', 1, 2)).toEqual(entries.slice(1, 3));
        expect(await journal.read('a', 5, 10)).toEqual([]);
        expect(await journal.read('a', 99, 10)).toEqual([]);
        await expect(journal.read('a', 0, -1)).rejects.toThrow(RangeError);
      });

      it('a read of a task that was never created finds nothing', async () => {
        expect(await everything('nowhere')).toEqual([]);
        expect(await journal.row('nowhere')).toBeUndefined();
        expect(await journal.rows(['nowhere', 'no\u0000where'])).toEqual([]);
        expect(await journal.command('alice', 'never sent')).toBeUndefined();
        expect(await journal.session('alice', 'nowhere')).toEqual([]);
        await expect(journal.append(continuing('nowhere', 1, [working]))).rejects.toMatchObject({
          reason: 'UNKNOWN_TASK',
        });
      });

      it.each([0, 1, 3, 99])(
        'J1 if a task has two events, an append that expects seq %i is a conflict and changes nothing',
        async (seq) => {
          const entries = await append(beginning('a'));
          const late = seq === 0 ? beginning('a', { sessionId: 'another' }) : continuing('a', seq, [working]);
          expect(await journal.append(late)).toEqual({ type: 'conflict' });
          expect(await everything('a')).toEqual(entries);
          expect(await journal.row('a')).toEqual(indexRow('a', entries));
        },
      );

      it('J1 if two writers append with the same seq, exactly one succeeds, and the other leaves no gap', async () => {
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

      it('J1 the journal stores appends without an await in the order of the calls', async () => {
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
        const entries = await append(
          beginning('a', { events: [...strange, event, delta('x'.repeat(10_000_000))] }),
        );
        expect(await everything('a')).toEqual(entries);
        await reopen();
        expect(await everything('a')).toEqual(entries);
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

      it('R101 a search by the prefix of an id finds only tasks of the principal', async () => {
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

      it('J3 of two ends at the same moment, only one is written', async () => {
        await append(beginning('a', { events: [working] }));
        const outcomes = await Promise.all(
          FINAL_EVENTS.map((end) => journal.append(continuing('a', 2, [end]))),
        );
        expect(outcomes.map(({ type }) => type)).toEqual(['appended', 'conflict', 'conflict', 'conflict']);
        expect((await journal.row('a'))?.state).toBe('completed');
      });
    });

    describe('the sessions in a journal', () => {
      it('a session has one live task: a second task is refused, and the error names the first', async () => {
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

      it('if several tasks start at once in one session, the journal creates one of them', async () => {
        const outcomes = await Promise.all(
          ['a', 'b', 'c'].map((id) => journal.append(beginning(id, { sessionId: 's' }))),
        );
        expect(outcomes.map(({ type }) => type)).toEqual(['appended', 'session-busy', 'session-busy']);
        expect(outcomes[1]).toEqual({ type: 'session-busy', taskId: 'a' });
      });

      it.each(FINAL_EVENTS.map((end) => [end.type, end] as const))(
        'the journal creates the next task of a session right after %s, even at the same moment',
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

      it.each([
        ['waits', [message('next')]],
        ['ends at once', [working, completed]],
      ])(
        'a task that %s cannot start before the session’s live task ends, even at the same moment',
        async (_, events) => {
          await append(beginning('a', { sessionId: 's', events: [working] }));
          const [next, last] = await Promise.all([
            journal.append(beginning('b', { sessionId: 's', events })),
            journal.append(continuing('a', 2, [completed])),
          ]);
          expect([next, last.type]).toEqual([{ type: 'session-busy', taskId: 'a' }, 'appended']);
          expect(await journal.row('b')).toBeUndefined();
        },
      );

      it('sessions of two principals are separate, even with the same name', async () => {
        await append(beginning('a', { sessionId: 's', principal: 'alice' }));
        await append(beginning('b', { sessionId: 's', principal: 'bob' }));
        expect((await journal.session('alice', 's')).map(({ taskId }) => taskId)).toEqual(['a']);
        expect((await journal.session('bob', 's')).map(({ taskId }) => taskId)).toEqual(['b']);
        expect(await journal.session('carol', 's')).toEqual([]);
      });
    });

    describe('the commands in a journal', () => {
      it('R27 a message id that is repeated appends once, also after a restart', async () => {
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
        const decide: AppendRequest = { ...continuing('a', 2, [completed]), command: commandKey('decide') };
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

      it('message ids of two principals are separate', async () => {
        await append(beginning('a', { command: commandKey('m', 'h', 'alice') }));
        await append(beginning('b', { principal: 'bob', command: commandKey('m', 'h', 'bob') }));
        expect((await journal.command('bob', 'm'))?.taskId).toBe('b');
      });
    });

    describe('the index of tasks', () => {
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

      it('the index gives the rows of several tasks at once, without those that it does not know', async () => {
        for (const id of ['a', 'b', 'c']) await append(beginning(id));
        const rows = await journal.rows(['c', 'nowhere', 'a']);
        expect(new Set(rows)).toEqual(new Set([await journal.row('a'), await journal.row('c')]));
        expect(rows).toHaveLength(2);
        expect(await journal.rows([])).toEqual([]);
      });

      it('at a restart the index gives all active tasks of every principal, oldest first', async () => {
        await append(beginning('submitted', { principal: 'bob' }));
        await append(beginning('parked', { events: [working, inputRequired] }));
        await append(beginning('ended', { events: [working, completed] }));
        await append(beginning('moving', { events: [working] }));
        await append(continuing('submitted', 2, [delta('touched last')]));
        await reopen();
        expect((await journal.unsettled()).map(({ taskId }) => taskId)).toEqual(['submitted', 'moving']);
      });

      it('the statistics count the tasks of all principals by state, and find the oldest one that waits', async () => {
        expect(await journal.statistics()).toMatchObject({ tasks: {}, waitingSince: null });
        await append(beginning('submitted', { principal: 'bob' }));
        await append(beginning('first', { events: [working, inputRequired] }));
        now = 2_000;
        await append(beginning('second', { principal: 'bob', events: [working, inputRequired] }));
        await append(beginning('ended', { events: [working, completed] }));
        const before = await journal.statistics();
        expect(before).toMatchObject({
          tasks: { submitted: 1, 'input-required': 2, completed: 1 },
          waitingSince: 1_000,
        });
        expect(before.bytes).toBeGreaterThan(0);
        await append(continuing('first', 3, [working, completed]));
        await reopen();
        expect(await journal.statistics()).toMatchObject({
          tasks: { submitted: 1, 'input-required': 1, completed: 2 },
          waitingSince: 2_000,
        });
      });

      it('R14 the index gives each deadline while its task waits, the earliest deadline first', async () => {
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

      it('the index lists the latest update first, and each task on exactly one page, even if times are equal', async () => {
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

      it('the index filters by session, state and time of update, alone and together', async () => {
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

      it('R101 the index lists the oldest update first if the caller asks for that, page by page', async () => {
        for (let index = 0; index < 5; index += 1) {
          now = 1_000 + Math.floor(index / 2);
          await append(beginning(`task ${index}`));
        }
        const ids: string[] = [];
        for (let token: string | undefined, first = true; first || token !== undefined; first = false) {
          const page = await journal.list(
            { principal: 'alice' },
            { size: 2, order: 'oldest-first', ...(token !== undefined && { token }) },
          );
          ids.push(...page.rows.map(({ taskId }) => taskId));
          token = page.next;
        }
        expect(ids).toEqual([0, 1, 2, 3, 4].map((index) => `task ${index}`));
      });

      it('the index finds tasks by the text of the first message, in any line and part, and takes wildcards literally', async () => {
        await append(
          beginning('a', { events: [messageOf('Fix the parser\nof "dates"', 'and 100% of the tests')] }),
        );
        await append(beginning('b', { events: [messageOf('a_b'), working, message('later: dates')] }));
        expect(await idsOf(journal, { text: 'FIX THE' })).toEqual(['a']);
        expect(await idsOf(journal, { text: 'parser\nof "dates"' })).toEqual(['a']);
        expect(await idsOf(journal, { text: '100%' })).toEqual(['a']);
        expect(await idsOf(journal, { text: 'a_b' })).toEqual(['b']);
        // No task is found by these texts, because they are in the stored event but not in the message.
        for (const text of ['messageId', 'test"', '0%of', 'f_x', '\\', "'", 'dates\0'])
          expect(await idsOf(journal, { text })).toEqual([]);
      });

      it('the index searches beside a message that is nested too deeply for SQLite’s JSON functions', async () => {
        let data: unknown = 'deep';
        for (let depth = 0; depth < 2_000; depth += 1) data = [data];
        const deep: TaskEvent = {
          type: 'message.received',
          message: {
            messageId: 'm',
            parts: [
              { type: 'text', text: 'outside' },
              { type: 'data', data },
            ],
          },
          channel: 'test',
        };
        await append(beginning('a', { events: [deep] }));
        await append(beginning('b', { events: [message('needle')] }));
        expect(await idsOf(journal, { text: 'needle' })).toEqual(['b']);
        // The title still has the first line of the message.
        expect(await idsOf(journal, { text: 'outside' })).toEqual(['a']);
      });

      it('the index filters by workspace and model, and lists their values for one principal', async () => {
        await append(begunWith('a', { workspace: '/projects/one', model: 'fast' }));
        await append(begunWith('b', { workspace: '/projects/two' }));
        await append(begunWith('c', { workspace: '/projects/one', model: 'smart' }));
        await append(begunWith('d', {}));
        await append(begunWith('e', { workspace: '/his', model: 'his', principal: 'bob' }));
        expect(await idsOf(journal, { workspace: '/projects/one' })).toEqual(['c', 'a']);
        expect(await idsOf(journal, { workspace: '/projects/one', model: 'fast' })).toEqual(['a']);
        expect(await idsOf(journal, { workspace: '/his' })).toEqual([]);
        expect(await idsOf(journal, { model: 'x\0' })).toEqual([]);
        expect(await journal.filterValues({ principal: 'alice' })).toEqual({
          workspaces: ['/projects/one', '/projects/two'],
          models: ['fast', 'smart'],
        });
      });

      it('the index selects the tasks of one tenant, whose principals have the names tenant/name', async () => {
        await append(begunWith('a', { principal: 'acme/ann', workspace: '/one' }));
        await append(begunWith('b', { principal: 'acme/bob', workspace: '/two' }));
        await append(begunWith('c', { principal: 'acme2/ann', workspace: '/three' }));
        await append(begunWith('d', { principal: 'acme', workspace: '/four' }));
        const tenant = { principal: 'acme/ann', tenant: 'acme' };
        expect(await idsOf(journal, tenant)).toEqual(['b', 'a']);
        expect(await idsOf(journal, { principal: 'acme/ann' })).toEqual(['a']);
        expect(await idsOf(journal, { ...tenant, idPrefixes: ['a', 'c', 'd', 'session-'] })).toContain('a');
        expect(await idsOf(journal, { ...tenant, idPrefixes: ['c', 'd'] })).toEqual([]);
        expect(await journal.filterValues(tenant)).toEqual({ workspaces: ['/one', '/two'], models: [] });
      });

      it.each(['', 'x', 'WzEsMl0=', 'WzEsIDJd', 'WzEuNSwyXQ', 'bm90IGpzb24', '💥', 'A'.repeat(100_000)])(
        'a page token that the journal did not create is MALFORMED (%#)',
        async (token) => {
          const list = journal.list({ principal: 'alice' }, { size: 10, token });
          await expect(list).rejects.toMatchObject({ reason: 'MALFORMED' });
        },
      );
    });

    describe('toolExecution', () => {
      it('R41 toolExecution returns the task of every tool execution, as long as the journal keeps the task', async () => {
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

    describe('the sums of costs', () => {
      it('J2 the sums add each request to its day, session and model, across appends and restarts', async () => {
        now = DAY * DAY_MS;
        await journal.append(beginning('one', { sessionId: 's', events: [working, started('a')] }));
        now += DAY_MS - 1;
        await journal.append(continuing('one', 3, [finished(10, 0.5), started('a')], 'working'));
        await reopen();
        now += 1;
        await journal.append(continuing('one', 5, [finished(20, 0.25), completed]));
        await journal.append(
          beginning('two', { sessionId: 's', events: [working, started('b'), finished(5)] }),
        );
        const base = { sessionId: 's', cacheWriteTokens: 0 };
        expect(await costsOf(journal, 'alice')).toEqual([
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
        expect(await journal.costs({ principal: 'alice', fromDay: DAY + 1 })).toHaveLength(2);
        expect(await journal.costs({ principal: 'alice', sessionId: 'other' })).toEqual([]);
        expect(await journal.costs({ principal: 'bob' })).toEqual([]);
      });

      it('the sums name the right model for a turn whose start and end are in one commit', async () => {
        await journal.append(beginning('one', { events: [working] }));
        await Promise.all([
          journal.append(continuing('one', 2, [started('a')], 'working')),
          journal.append(continuing('one', 3, [finished(10, 1)], 'working')),
        ]);
        expect(await journal.costs({ principal: 'alice' })).toMatchObject([{ model: 'a', knownUsd: 1 }]);
      });

      it('the sums do not count an append that the journal refuses', async () => {
        await journal.append(beginning('one', { events: [working, started('a')] }));
        const late = continuing('one', 2, [finished(10, 1)], 'working');
        expect((await journal.append(late)).type).toBe('conflict');
        expect(await journal.costs({ principal: 'alice' })).toEqual([]);
      });

      it('the use of a day has the known costs of all sessions and the highest extension', async () => {
        now = DAY * DAY_MS;
        expect(await journal.dailyUse('alice', DAY)).toEqual({ day: DAY, usd: 0, extendedAt: null });
        const extended = (usd: number): TaskEvent => ({ type: 'task.working', dayCost: { day: DAY, usd } });
        await append(beginning('one', { events: [extended(3), started('a'), finished(10, 0.5)] }));
        await append(beginning('two', { events: [extended(2), started('b'), finished(10, 0.25)] }));
        await append(beginning('his', { principal: 'bob', events: [started('b'), finished(10, 9)] }));
        expect(await journal.dailyUse('alice', DAY)).toEqual({ day: DAY, usd: 0.75, extendedAt: 3 });
        expect(await journal.dailyUse('alice', DAY + 1)).toEqual({ day: DAY + 1, usd: 0, extendedAt: null });
      });

      it('the written amounts cover the principal, its tenant and all principals on each day, and a task in all', async () => {
        now = DAY * DAY_MS;
        const nothing = { events: 0, bytes: 0 };
        expect(await journal.dailyWritten('acme/ann', DAY)).toEqual({
          principal: nothing,
          tenant: nothing,
          server: nothing,
        });
        await append(beginning('one', { principal: 'acme/ann', events: [working] }));
        await append(beginning('two', { principal: 'acme/bob', events: [working] }));
        const [one, two] = [await journal.taskSize('one'), await journal.taskSize('two')];
        expect([one.events, two.events]).toEqual([2, 2]);
        const more = 'x'.repeat(5_000);
        const contents = [{ hash: 'h', bytes: new Uint8Array(3_000) }];
        await append({ ...continuing('one', 2, [delta(more), delta('y')], 'working'), contents });
        const grown = await journal.taskSize('one');
        const added = JSON.stringify(delta(more)).length + JSON.stringify(delta('y')).length + 3_000;
        expect(grown).toEqual({ events: 4, bytes: one.bytes + added });
        expect(await journal.dailyWritten('acme/ann', DAY)).toEqual({
          principal: grown,
          tenant: { events: 6, bytes: grown.bytes + two.bytes },
          server: { events: 6, bytes: grown.bytes + two.bytes },
        });
        expect(await journal.dailyWritten('acm', DAY)).toMatchObject({
          principal: nothing,
          server: { events: 6 },
        });
        expect(await journal.taskSize('none')).toEqual(nothing);
        // The refused append counts for nothing, and the next day begins at 0.
        await journal.append(continuing('one', 2, [delta('late')], 'working'));
        now += DAY_MS;
        await append(continuing('one', 4, [delta('z')], 'working'));
        expect((await journal.taskSize('one')).events).toBe(5);
        expect(await journal.dailyWritten('acme/bob', DAY + 1)).toMatchObject({
          principal: nothing,
          tenant: { events: 1 },
        });
      });

      it('the written amounts of a day stay, if the clock leaves the day and comes back', async () => {
        now = DAY * DAY_MS;
        await append(beginning('one', { events: [working] }));
        now += DAY_MS;
        await append(continuing('one', 2, [delta('tomorrow')], 'working'));
        now -= DAY_MS;
        await journal.maintain(1);
        expect(await journal.dailyWritten('alice', DAY)).toMatchObject({ principal: { events: 2 } });
      });

      it('the sums of a deleted session stay, without its id', async () => {
        now = DAY * DAY_MS;
        for (const id of ['one', 'two'])
          await append(beginning(id, { events: [working, started('a'), finished(10, 0.5), completed] }));
        expect(await journal.deleteEndedSessions(now + 1, 10)).toBe(2);
        expect(await journal.costs({ principal: 'alice' })).toMatchObject([
          { sessionId: null, model: 'a', requests: 2, knownUsd: 1 },
        ]);
      });
    });

    describe('the contents of files', () => {
      it('the journal returns each content of a task byte for byte, until the session is deleted', async () => {
        const contents = [Buffer.alloc(0), Buffer.from([0, 255, 10, 92]), randomBytes(2_500_000)].map(
          (bytes) => ({
            hash: createHash('sha256').update(bytes).digest('hex'),
            bytes,
          }),
        );
        await journal.append({ ...beginning('a', { events: [working] }), contents });
        await journal.append({ ...continuing('a', 2, [completed]), contents });
        await reopen();
        for (const { hash, bytes } of contents)
          expect(bytes.equals((await journal.content('a', hash)) ?? Buffer.from('missing'))).toBe(true);
        expect(await journal.content('a', 'unknown')).toBeUndefined();
        expect(await journal.content('b', contents[0]?.hash ?? '')).toBeUndefined();
        expect(await journal.deleteEndedSessions(now + 1, 10)).toBe(1);
        for (const { hash } of contents) expect(await journal.content('a', hash)).toBeUndefined();
        expect(await maintainAll(journal)).toBeGreaterThan(3);
      });
    });

    describe('forget', () => {
      it('forget deletes an ended session with its message ids: the same message is then new', async () => {
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

      it('forget keeps a session with a live or recently ended task, with the session’s whole history', async () => {
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

      it('forget deletes at most the given number of sessions per call, until no session is left', async () => {
        for (const id of ['a', 'b', 'c', 'd', 'e'])
          await append(beginning(id, { events: [working, completed] }));
        const deleted: number[] = [];
        for (let round = 0; round < 4; round += 1) deleted.push(await journal.deleteEndedSessions(2_000, 2));
        expect([deleted, await countOf(journal)]).toEqual([[2, 2, 1, 0], 0]);
      });
    });

    describe('maintain', () => {
      it('S1 S2 after maintain, a read from any cursor with any limit returns the same entries as before', async () => {
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
          for (let after = 0; after <= before.length; after += step * STRIDE)
            expect(await journal.read('a', after, limit)).toEqual(before.slice(after, after + limit));
        }
        expect(await journal.read('a', before.length, 10)).toEqual([]);
        expect(await journal.row('a')).toEqual(row);
        expect(await maintainAll(journal)).toBe(0);
      });

      it('J1 maintain does not change active tasks, and later continues with tasks that have new events', async () => {
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
      it('E5 a watcher wakes after each append to its task, when the entries can be read, and at no other time', async () => {
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
        // A read over a network takes time. The second append must not overtake it.
        await Promise.all(reads);
        await append(continuing('a', 3, [delta('two')], 'working'));
        await Promise.all(reads);
        expect(seen).toEqual([3, 4]);
        stop();
        await append(continuing('a', 4, [delta('three')], 'working'));
        await Promise.all(reads);
        expect(seen).toEqual([3, 4]);
      });

      it('an append wakes all watchers of the task, and each watcher can stop alone', async () => {
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

      it('a watcher of a task that does not exist yet wakes when the task starts', async () => {
        const woken = new Promise<void>((resolve) => void journal.watch('a', resolve));
        await append(beginning('a'));
        await woken;
      });
    });

    describe('close', () => {
      it('E3 close stores earlier appends, and refuses later appends with SHUTTING_DOWN', async () => {
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

const DAY_MS = 86_400_000;
const DAY = 20_000;

const started = (model: string): TaskEvent => ({ type: 'turn.started', turn: 1, model });
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

async function idsOf(journal: Journal, filter: Partial<TaskFilter>): Promise<string[]> {
  const page = await journal.list({ principal: 'alice', ...filter }, { size: 10 });
  expect(page.total).toBe(page.rows.length);
  return page.rows.map(({ taskId }) => taskId);
}

async function found(journal: Journal, principal: string, ...idPrefixes: string[]): Promise<string[]> {
  const { rows, total } = await journal.list({ principal, idPrefixes }, { size: 10 });
  expect(total).toBe(rows.length);
  return rows.map(({ taskId }) => taskId);
}

function messageOf(...texts: string[]): TaskEvent {
  const parts = texts.map((text) => ({ type: 'text' as const, text }));
  return { type: 'message.received', message: { messageId: 'm', parts }, channel: 'test' };
}

interface StartedTask {
  workspace?: string;
  model?: string;
  principal?: string;
}

function begunWith(taskId: string, { workspace, model, principal = 'alice' }: StartedTask): AppendRequest {
  const start = beginning(taskId, { principal });
  const events = start.events.map((event) =>
    event.type === 'task.created' && workspace !== undefined ? { ...event, settings: { workspace } } : event,
  );
  const turn: TaskEvent[] = model === undefined ? [] : [{ type: 'turn.started', turn: 1, model }];
  return { ...start, events: [...events, ...turn] };
}
