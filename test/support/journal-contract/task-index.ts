/** Contract tests of the lists and searches of tasks in a journal. */
import { describe, expect, it } from '@jest/globals';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { buildTaskRow } from '../../../a2a-server/journal/build-task-row.ts';
import type {
  AppendRequest,
  Journal,
  JournalTaskFilter,
  TaskPage,
} from '../../../a2a-server/journal/journal.ts';
import {
  beginning,
  completed,
  continuing,
  delta,
  inputRequired,
  inputRequiredUntil,
  message,
  toolStarted,
  working,
} from '../journal-samples.ts';
import type { JournalStage } from './journal-stage.ts';
export function describeTaskIndex(on: JournalStage): void {
  describe('the index of tasks', () => {
    it('J2 the row of a task agrees with its entries, at every step and after a restart', async () => {
      await on.append(beginning('a', { events: [] }));
      const steps = [
        [message('\n  Write a poem \r\nabout rain')],
        [working],
        [delta('x')],
        [inputRequired],
        [working, completed],
      ];
      for (const events of steps) {
        on.now += 10;
        const row = await on.journal.row('a');
        await on.append(continuing('a', row?.seq ?? 0, events, row?.state));
        expect(await on.journal.row('a')).toEqual(buildTaskRow('a', await on.everything('a')));
      }
      const last = await on.journal.row('a');
      expect(last).toMatchObject({
        title: 'Write a poem',
        state: 'completed',
        seq: 7,
        createdAt: 1_000,
        updatedAt: 1_050,
      });
      await on.reopen();
      expect(await on.journal.row('a')).toEqual(last);
    });

    it('the index gives the rows of several tasks at once, without those that it does not know', async () => {
      for (const id of ['a', 'b', 'c']) await on.append(beginning(id));
      const rows = await on.journal.rows(['c', 'nowhere', 'a']);
      expect(new Set(rows)).toEqual(new Set([await on.journal.row('a'), await on.journal.row('c')]));
      expect(rows).toHaveLength(2);
      expect(await on.journal.rows([])).toEqual([]);
    });

    it('at a restart the index gives all active tasks of every principal, oldest first', async () => {
      await on.append(beginning('submitted', { principal: 'bob' }));
      await on.append(beginning('parked', { events: [working, inputRequired] }));
      await on.append(beginning('ended', { events: [working, completed] }));
      await on.append(beginning('moving', { events: [working] }));
      await on.append(continuing('submitted', 2, [delta('touched last')]));
      await on.reopen();
      expect((await on.journal.unsettled()).map(({ taskId }) => taskId)).toEqual(['submitted', 'moving']);
    });

    it('the statistics count the tasks of all principals by state, and find the oldest one that waits', async () => {
      expect(await on.journal.statistics()).toMatchObject({ tasks: {}, waitingSince: null });
      await on.append(beginning('submitted', { principal: 'bob' }));
      await on.append(beginning('first', { events: [working, inputRequired] }));
      on.now = 2_000;
      await on.append(beginning('second', { principal: 'bob', events: [working, inputRequired] }));
      await on.append(beginning('ended', { events: [working, completed] }));
      const before = await on.journal.statistics();
      expect(before).toMatchObject({
        tasks: { submitted: 1, 'input-required': 2, completed: 1 },
        waitingSince: 1_000,
      });
      expect(before.bytes).toBeGreaterThan(0);
      await on.append(continuing('first', 3, [working, completed]));
      await on.reopen();
      expect(await on.journal.statistics()).toMatchObject({
        tasks: { submitted: 1, 'input-required': 1, completed: 2 },
        waitingSince: 2_000,
      });
    });

    it('R14 the index gives each deadline while its task waits, the earliest deadline first', async () => {
      await on.append(beginning('late', { events: [working, until(9_000)] }));
      await on.append(beginning('early', { principal: 'bob', events: [working, until(5_000)] }));
      await on.append(beginning('endless', { events: [working, until(null)] }));
      await on.append(beginning('moved', { events: [working, until(1_000)] }));
      await on.append(continuing('moved', 3, [working]));
      await on.append(beginning('ended', { events: [working, until(2_000)] }));
      await on.append(continuing('ended', 3, [completed]));
      await on.append(continuing('endless', 3, [until(8_000)]));
      const all = [
        ['early', 5_000],
        ['endless', 8_000],
        ['late', 9_000],
      ];
      expect([await deadlines(on.journal, 2), await deadlines(on.journal, 10)]).toEqual([
        all.slice(0, 2),
        all,
      ]);
      await on.reopen();
      expect(await deadlines(on.journal, 10)).toEqual(all);
      for (const taskId of ['late', 'early', 'endless', 'moved', 'ended'])
        expect(await on.journal.row(taskId)).toEqual(buildTaskRow(taskId, await on.everything(taskId)));
    });

    it('the index lists the latest update first, and each task on exactly one page, even if times are equal', async () => {
      for (let index = 0; index < 25; index += 1) {
        on.now = 1_000 + Math.floor(index / 4);
        await on.append(beginning(`task ${index}`));
      }
      on.now = 2_000;
      await on.append(continuing('task 3', 2, [working]));
      await on.append(beginning('not hers', { principal: 'bob' }));
      const expected = [
        'task 3',
        ...Array.from({ length: 25 }, (_, i) => `task ${24 - i}`).filter((id) => id !== 'task 3'),
      ];
      for (const size of [1, 4, 7, 24, 25, 26]) {
        const pages = await pagesOf(on.journal, size);
        expect(pages.flatMap(({ rows }) => rows.map(({ taskId }) => taskId))).toEqual(expected);
        expect(pages).toHaveLength(Math.ceil(25 / size));
        expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([25]));
      }
      const { tokens } = await on.journal.list({ principal: 'alice' }, { size: 25 });
      for (const [index, token] of tokens.entries()) {
        const after = await on.journal.list({ principal: 'alice' }, { size: 1, token });
        expect(after.rows.map(({ taskId }) => taskId)).toEqual(expected.slice(index + 1, index + 2));
      }
    });

    it('the index filters by session, state and time of update, alone and together', async () => {
      await on.append(beginning('a', { sessionId: 's', events: [working, completed] }));
      on.now = 2_000;
      await on.append(beginning('b', { sessionId: 's', events: [working] }));
      await on.append(beginning('c', { events: [working] }));
      expect(await idsOf(on.journal, {})).toEqual(['c', 'b', 'a']);
      expect(await idsOf(on.journal, { sessionId: 's' })).toEqual(['b', 'a']);
      expect(await idsOf(on.journal, { states: ['working', 'failed'] })).toEqual(['c', 'b']);
      expect(await idsOf(on.journal, { states: [] })).toEqual([]);
      expect(await idsOf(on.journal, { updatedSince: 2_000 })).toEqual(['c', 'b']);
      expect(await idsOf(on.journal, { updatedSince: 2_001 })).toEqual([]);
      expect(await idsOf(on.journal, { sessionId: 's', states: ['working'], updatedSince: 1_500 })).toEqual([
        'b',
      ]);
    });

    it('R101 the index lists the oldest update first if the caller asks for that, page by page', async () => {
      for (let index = 0; index < 5; index += 1) {
        on.now = 1_000 + Math.floor(index / 2);
        await on.append(beginning(`task ${index}`));
      }
      const ids: string[] = [];
      for (let token: string | undefined, first = true; first || token !== undefined; first = false) {
        const page = await on.journal.list(
          { principal: 'alice' },
          { size: 2, order: 'oldest-first', ...(token !== undefined && { token }) },
        );
        ids.push(...page.rows.map(({ taskId }) => taskId));
        token = page.next;
      }
      expect(ids).toEqual([0, 1, 2, 3, 4].map((index) => `task ${index}`));
    });

    it('the index finds tasks by the text of the first message, in any line and part, and takes wildcards literally', async () => {
      await on.append(
        beginning('a', { events: [messageOf('Fix the parser\nof "dates"', 'and 100% of the tests')] }),
      );
      await on.append(
        beginning('b', { events: [messageOf('a_b 💥 C:\\dir'), working, message('later: dates')] }),
      );
      expect(await idsOf(on.journal, { text: 'FIX THE' })).toEqual(['a']);
      expect(await idsOf(on.journal, { text: 'parser\nof "dates"' })).toEqual(['a']);
      expect(await idsOf(on.journal, { text: '100%' })).toEqual(['a']);
      expect(await idsOf(on.journal, { text: 'a_b' })).toEqual(['b']);
      expect(await idsOf(on.journal, { text: '💥 c:\\DIR' })).toEqual(['b']);
      // No task is found by these texts, because they are in the stored event but not in the message.
      for (const text of ['messageId', 'test"', '0%of', 'f_x', '\\\\', "'", 'dates\0'])
        expect(await idsOf(on.journal, { text })).toEqual([]);
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
      await on.append(beginning('a', { events: [deep] }));
      await on.append(beginning('b', { events: [message('needle')] }));
      expect(await idsOf(on.journal, { text: 'needle' })).toEqual(['b']);
      // The title still has the first line of the message.
      expect(await idsOf(on.journal, { text: 'outside' })).toEqual(['a']);
    });

    it('the index filters by workspace and model, and lists their values for one principal', async () => {
      await on.append(begunWith('a', { workspace: '/projects/one', model: 'fast' }));
      await on.append(begunWith('b', { workspace: '/projects/two' }));
      await on.append(begunWith('c', { workspace: '/projects/one', model: 'smart' }));
      await on.append(begunWith('d', {}));
      await on.append(begunWith('e', { workspace: '/his', model: 'his', principal: 'bob' }));
      expect(await idsOf(on.journal, { workspace: '/projects/one' })).toEqual(['c', 'a']);
      expect(await idsOf(on.journal, { workspace: '/projects/one', model: 'fast' })).toEqual(['a']);
      expect(await idsOf(on.journal, { workspace: '/his' })).toEqual([]);
      expect(await idsOf(on.journal, { model: 'x\0' })).toEqual([]);
      expect(await on.journal.filterValues({ principal: 'alice' })).toEqual({
        workspaces: ['/projects/one', '/projects/two'],
        models: ['fast', 'smart'],
      });
    });

    it('the index selects the tasks of one tenant, whose principals have the names tenant/name', async () => {
      await on.append(begunWith('a', { principal: 'acme/ann', workspace: '/one' }));
      await on.append(begunWith('b', { principal: 'acme/bob', workspace: '/two' }));
      await on.append(begunWith('c', { principal: 'acme2/ann', workspace: '/three' }));
      await on.append(begunWith('d', { principal: 'acme', workspace: '/four' }));
      const tenant = { principal: 'acme/ann', tenant: 'acme' };
      expect(await idsOf(on.journal, tenant)).toEqual(['b', 'a']);
      expect(await idsOf(on.journal, { principal: 'acme/ann' })).toEqual(['a']);
      expect(await idsOf(on.journal, { ...tenant, idPrefixes: ['a', 'c', 'd', 'session-'] })).toContain('a');
      expect(await idsOf(on.journal, { ...tenant, idPrefixes: ['c', 'd'] })).toEqual([]);
      expect(await on.journal.filterValues(tenant)).toEqual({ workspaces: ['/one', '/two'], models: [] });
    });

    it.each(['', 'x', 'WzEsMl0=', 'WzEsIDJd', 'WzEuNSwyXQ', 'bm90IGpzb24', '💥', 'A'.repeat(100_000)])(
      'a page token that the journal did not create is MALFORMED (%#)',
      async (token) => {
        const list = on.journal.list({ principal: 'alice' }, { size: 10, token });
        await expect(list).rejects.toMatchObject({ reason: 'MALFORMED' });
      },
    );
  });

  describe('toolExecution', () => {
    it('R41 toolExecution returns the task of every tool execution, as long as the journal keeps the task', async () => {
      await on.append(beginning('a', { events: [message('do it'), working, toolStarted('x-1')] }));
      await on.append(continuing('a', 4, [toolStarted('x-2'), completed]));
      await on.reopen();
      const known = { taskId: 'a', principal: 'alice' };
      expect([await on.journal.toolExecution('x-1'), await on.journal.toolExecution('x-2')]).toEqual([
        known,
        known,
      ]);
      for (const none of ['x', '', 'x-1\0', 'x'.repeat(10_000)])
        expect(await on.journal.toolExecution(none)).toBeUndefined();
      expect(await on.journal.deleteEndedSessions(on.now + 1, 10)).toBe(1);
      expect(await on.journal.toolExecution('x-1')).toBeUndefined();
    });
  });
}

async function deadlines(journal: Journal, limit: number): Promise<unknown[]> {
  return (await journal.deadlines(limit)).map(({ taskId, deadline }) => [taskId, deadline]);
}

async function pagesOf(journal: Journal, size: number): Promise<TaskPage[]> {
  const pages = [await journal.list({ principal: 'alice' }, { size })];
  for (let token = pages[0]?.next; token !== undefined; token = pages.at(-1)?.next) {
    pages.push(await journal.list({ principal: 'alice' }, { size, token }));
    if (pages.length > 100) throw new Error('the pages have no end');
  }
  return pages;
}

async function idsOf(journal: Journal, filter: Partial<JournalTaskFilter>): Promise<string[]> {
  const page = await journal.list({ principal: 'alice', ...filter }, { size: 10 });
  expect(page.total).toBe(page.rows.length);
  return page.rows.map(({ taskId }) => taskId);
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

function until(ms: number | null): TaskEvent {
  return inputRequiredUntil(ms === null ? null : new Date(ms).toISOString());
}
