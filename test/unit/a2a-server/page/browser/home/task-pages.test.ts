import { describe, expect, it } from '@jest/globals';
import {
  groupBySession,
  waitingGroupTitle,
  keepLoadedTaskPages,
  addNextTaskPage,
} from '../../../../../../a2a-server/page/browser/home/task-pages.ts';
import type { GroupedTask, TaskGroupPage } from '../../../../../../shared/protocol/task-groups.ts';
import { sampleTask } from '../sample-task.ts';

const group = (ids: string, next: string | null): TaskGroupPage => ({
  tasks: Array.from(ids, (id) => sampleTask(id)),
  total: 9,
  next,
});
const idsOf = ({ tasks }: { tasks: readonly GroupedTask[] }): string =>
  tasks.map(({ taskId }) => taskId).join('');

describe('the pages of a group', () => {
  it('a further page follows the known tasks, and a task that is on both is listed once', () => {
    const joined = addNextTaskPage(group('abc', '1'), group('cde', '2'));
    expect([idsOf(joined), joined.next]).toEqual(['abcde', '2']);
  });

  it('a new first page keeps the further pages that were loaded', () => {
    const joined = keepLoadedTaskPages(group('xab', '1'), group('abcdef', '2'));
    expect([idsOf(joined), joined.next]).toEqual(['xabcdef', '2']);
  });

  it('a new first page that does not reach the known tasks replaces them, because tasks between may be missing', () => {
    const first = group('xyz', '1');
    expect(keepLoadedTaskPages(first, group('abc', '2'))).toBe(first);
  });

  it('a first page that is also the last one replaces all, because tasks may have been deleted', () => {
    const first = group('ab', null);
    expect(keepLoadedTaskPages(first, group('abc', null))).toBe(first);
    expect(keepLoadedTaskPages(first, undefined)).toBe(first);
  });
});

it('tasks of one session stand together, where the first of them stands', () => {
  const tasks = [sampleTask('a', { sessionId: 's' }), sampleTask('b'), sampleTask('c', { sessionId: 's' })];
  expect(groupBySession(tasks).map(idsOf)).toEqual(['ac', 'b']);
});

describe('waitingGroupTitle', () => {
  const first = [] as const;
  const mine = { ...sampleTask('a'), waitingFor: { type: 'actions' as const, count: 1, first: [...first] } };
  const other = {
    ...mine,
    waitingFor: { ...mine.waitingFor, approver: { role: { needed: 'approve', held: ['delegate'] } } },
  };

  it.each([
    [[], 'Waits for you'],
    [[mine], 'Waits for you'],
    [[other], 'Waits for somebody else'],
    [[mine, other], 'Waits for you or somebody else'],
  ])('R122 says whom the tasks wait for', (tasks, title) => {
    expect(waitingGroupTitle({ tasks })).toBe(title);
  });
});
