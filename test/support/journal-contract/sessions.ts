/** Contract tests of the life of a session in a journal: its end, its contents, and its deletion. */
import { describe, expect, it } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { buildTaskRow } from '../../../a2a-server/journal/build-task-row.ts';
import type { Journal } from '../../../a2a-server/journal/journal.ts';
import { addLongTask, maintainAll } from '../long-task.ts';
import {
  beginning,
  commandKey,
  completed,
  continuing,
  delta,
  FINAL_EVENTS,
  inputRequired,
  message,
  working,
} from '../journal-samples.ts';
import { STRIDE } from '../property-runs.ts';
import type { JournalStage } from './journal-stage.ts';
export function describeSessions(on: JournalStage): void {
  describe('the end of a task', () => {
    it.each(FINAL_EVENTS.map((end) => [end.type, end] as const))('J3 nothing follows %s', async (_, end) => {
      const entries = await on.append(beginning('a', { events: [working, end] }));
      const { state } = continuing('a', 3, [end]);
      for (const more of [[delta('late')], [working], [end]]) {
        await expect(on.journal.append(continuing('a', 3, more, state))).rejects.toMatchObject({
          reason: 'TASK_ENDED',
        });
      }
      await on.reopen();
      await expect(on.journal.append(continuing('a', 3, [working]))).rejects.toMatchObject({
        reason: 'TASK_ENDED',
      });
      expect(await on.journal.append(continuing('a', 2, [working]))).toEqual({ type: 'conflict' });
      expect(await on.everything('a')).toEqual(entries);
    });

    it.each(FINAL_EVENTS.map((end) => [end.type, end] as const))(
      'J3 nothing follows %s even if it was requested at the same moment',
      async (_, end) => {
        await on.append(beginning('a', { events: [working] }));
        const { state } = continuing('a', 2, [end]);
        const [last, late] = await Promise.allSettled([
          on.journal.append(continuing('a', 2, [end])),
          on.journal.append(continuing('a', 3, [delta('late')], state)),
        ]);
        expect([last.status, late]).toMatchObject(['fulfilled', { reason: { reason: 'TASK_ENDED' } }]);
        expect(await on.journal.row('a')).toEqual(buildTaskRow('a', await on.everything('a')));
      },
    );

    it('J3 of two ends at the same moment, only one is written', async () => {
      await on.append(beginning('a', { events: [working] }));
      const outcomes = await Promise.all(
        FINAL_EVENTS.map((end) => on.journal.append(continuing('a', 2, [end]))),
      );
      expect(outcomes.map(({ type }) => type)).toEqual(['appended', 'conflict', 'conflict', 'conflict']);
      expect((await on.journal.row('a'))?.state).toBe('completed');
    });
  });

  describe('the sessions in a journal', () => {
    it('a session has one live task: a second task is refused, and the error names the first', async () => {
      await on.append(beginning('a', { sessionId: 's' }));
      expect(await on.journal.append(beginning('b', { sessionId: 's' }))).toEqual({
        type: 'session-busy',
        taskId: 'a',
      });
      await on.append(continuing('a', 2, [working, inputRequired]));
      expect(await on.journal.append(beginning('b', { sessionId: 's' }))).toEqual({
        type: 'session-busy',
        taskId: 'a',
      });
      expect(await on.journal.row('b')).toBeUndefined();
    });

    it('if several tasks start at once in one session, the journal creates one of them', async () => {
      const outcomes = await Promise.all(
        ['a', 'b', 'c'].map((id) => on.journal.append(beginning(id, { sessionId: 's' }))),
      );
      expect(outcomes.map(({ type }) => type)).toEqual(['appended', 'session-busy', 'session-busy']);
      expect(outcomes[1]).toEqual({ type: 'session-busy', taskId: 'a' });
    });

    it.each(FINAL_EVENTS.map((end) => [end.type, end] as const))(
      'the journal creates the next task of a session right after %s, even at the same moment',
      async (_, end) => {
        await on.append(beginning('a', { sessionId: 's', events: [working] }));
        const [last, next] = await Promise.all([
          on.journal.append(continuing('a', 2, [end])),
          on.journal.append(beginning('b', { sessionId: 's' })),
        ]);
        expect([last.type, next.type]).toEqual(['appended', 'appended']);
        expect((await on.journal.session('alice', 's')).map(({ taskId }) => taskId)).toEqual(['a', 'b']);
      },
    );

    it.each([
      ['waits', [message('next')]],
      ['ends at once', [working, completed]],
    ])(
      'a task that %s cannot start before the session’s live task ends, even at the same moment',
      async (_, events) => {
        await on.append(beginning('a', { sessionId: 's', events: [working] }));
        const [next, last] = await Promise.all([
          on.journal.append(beginning('b', { sessionId: 's', events })),
          on.journal.append(continuing('a', 2, [completed])),
        ]);
        expect([next, last.type]).toEqual([{ type: 'session-busy', taskId: 'a' }, 'appended']);
        expect(await on.journal.row('b')).toBeUndefined();
      },
    );

    it('sessions of two principals are separate, even with the same name', async () => {
      await on.append(beginning('a', { sessionId: 's', principal: 'alice' }));
      await on.append(beginning('b', { sessionId: 's', principal: 'bob' }));
      expect((await on.journal.session('alice', 's')).map(({ taskId }) => taskId)).toEqual(['a']);
      expect((await on.journal.session('bob', 's')).map(({ taskId }) => taskId)).toEqual(['b']);
      expect(await on.journal.session('carol', 's')).toEqual([]);
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
      await on.journal.append({ ...beginning('a', { events: [working] }), contents });
      await on.journal.append({ ...continuing('a', 2, [completed]), contents });
      await on.reopen();
      for (const { hash, bytes } of contents)
        expect(bytes.equals((await on.journal.content('a', hash)) ?? Buffer.from('missing'))).toBe(true);
      expect(await on.journal.content('a', 'unknown')).toBeUndefined();
      expect(await on.journal.content('b', contents[0]?.hash ?? '')).toBeUndefined();
      expect(await on.journal.deleteEndedSessions(on.now + 1, 10)).toBe(1);
      for (const { hash } of contents) expect(await on.journal.content('a', hash)).toBeUndefined();
      expect(await maintainAll(on.journal)).toBeGreaterThan(3);
    });
  });

  describe('forget', () => {
    it('forget deletes an ended session with its message ids: the same message is then new', async () => {
      const command = commandKey('m');
      await on.append(beginning('a', { sessionId: 's', command, events: [working, delta('x'), completed] }));
      await on.append(beginning('b', { sessionId: 's', events: [working, completed] }));
      on.now = 5_000;
      expect(await on.journal.deleteEndedSessions(1_000, 10)).toBe(0);
      expect(await on.journal.deleteEndedSessions(1_001, 10)).toBe(1);
      expect([
        await on.everything('a'),
        await on.journal.row('a'),
        await on.journal.command('alice', 'm'),
      ]).toEqual([[], undefined, undefined]);
      expect([await on.journal.session('alice', 's'), await countOf(on.journal)]).toEqual([[], 0]);
      await expect(on.journal.append(continuing('a', 4, [working]))).rejects.toMatchObject({
        reason: 'UNKNOWN_TASK',
      });
      await on.reopen();
      expect((await on.append(beginning('c', { sessionId: 's', command }))).map(({ seq }) => seq)).toEqual([
        1, 2,
      ]);
    });

    it('forget keeps a session with a live or recently ended task, with the session’s whole history', async () => {
      const ended = [working, completed];
      await on.append(beginning('old', { sessionId: 'live', events: ended }));
      await on.append(beginning('old too', { sessionId: 'fresh', events: ended }));
      await on.append(beginning('namesake', { sessionId: 'live', principal: 'bob', events: ended }));
      await on.append(beginning('parked', { sessionId: 'live', events: [working, inputRequired] }));
      on.now = 9_000;
      await on.append(beginning('new', { sessionId: 'fresh', events: ended }));
      expect(await on.journal.deleteEndedSessions(9_000, 10)).toBe(1);
      expect([await countOf(on.journal), await on.journal.row('namesake')]).toEqual([4, undefined]);
      expect(await on.everything('old')).toHaveLength(3);
    });

    it('forget deletes at most the given number of sessions per call, until no session is left', async () => {
      for (const id of ['a', 'b', 'c', 'd', 'e'])
        await on.append(beginning(id, { events: [working, completed] }));
      const deleted: number[] = [];
      for (let round = 0; round < 4; round += 1) deleted.push(await on.journal.deleteEndedSessions(2_000, 2));
      expect([deleted, await countOf(on.journal)]).toEqual([[2, 2, 1, 0], 0]);
    });
  });

  describe('maintain', () => {
    it('S1 S2 after maintain, a read from any cursor with any limit returns the same entries as before', async () => {
      await addLongTask(on.journal, 'a', () => (on.now += 1));
      await on.append(continuing('a', 3_110, [completed]));
      const before = await on.everything('a');
      const row = await on.journal.row('a');
      expect(await maintainAll(on.journal)).toBeGreaterThan(before.length / 2);
      expect(await on.everything('a')).toEqual(before);
      await on.reopen();
      for (const [limit, step] of [
        [1, 1],
        [7, 3],
        [256, 101],
        [5_000, 499],
      ] as const) {
        for (let after = 0; after <= before.length; after += step * STRIDE)
          expect(await on.journal.read('a', after, limit)).toEqual(before.slice(after, after + limit));
      }
      expect(await on.journal.read('a', before.length, 10)).toEqual([]);
      expect((await on.pages('a', 400)).flatMap(({ entries }) => entries)).toEqual(before.slice(400));
      expect(await on.journal.row('a')).toEqual(row);
      expect(await maintainAll(on.journal)).toBe(0);
    });

    it.each([
      ['has an event that is not JSON', "UPDATE events SET body = '{' WHERE seq = 9"],
      ['has an event that is null', "UPDATE events SET body = 'null' WHERE seq = 9"],
      ['has lost its events', 'DELETE FROM events'],
    ])('R28 maintain packs the other tasks if a task %s', async (_what, damage) => {
      const texts = Array.from({ length: 600 }, (_, i) => delta(String(i)));
      await on.append(beginning('damaged', { events: [working, ...texts, completed] }));
      await on.change(damage);
      await on.append(beginning('whole', { events: [working, ...texts, completed] }));
      const before = await on.everything('whole');
      expect(await maintainAll(on.journal)).toBeGreaterThan(600);
      expect(await on.everything('whole')).toEqual(before);
      await on.change("UPDATE events SET body = 'null' WHERE first IS NOT NULL");
      await expect(on.everything('whole')).rejects.toMatchObject({ reason: 'STORAGE' });
    });

    it('J1 maintain does not change active tasks, and later continues with tasks that have new events', async () => {
      const moving = await addLongTask(on.journal, 'a', () => (on.now += 1));
      expect(await maintainAll(on.journal)).toBe(0);
      await on.append(continuing('a', moving.length, [inputRequired]));
      expect(await maintainAll(on.journal)).toBeGreaterThan(moving.length / 2);
      const more = Array.from({ length: 600 }, (_, i) => delta(String(i)));
      await on.append(continuing('a', moving.length + 1, [working, ...more], 'working'));
      await on.append(continuing('a', moving.length + 602, [completed]));
      const before = await on.everything('a');
      expect(before.map(({ seq }) => seq)).toEqual(before.map((_, i) => i + 1));
      expect(await maintainAll(on.journal)).toBeGreaterThan(300);
      expect(await on.everything('a')).toEqual(before);
      expect(await on.journal.deleteEndedSessions(on.now + 1, 10)).toBe(1);
      expect(await on.everything('a')).toEqual([]);
    });
  });
}

async function countOf(journal: Journal): Promise<number> {
  return (await journal.list({ principal: 'alice' }, { size: 1 })).total;
}
