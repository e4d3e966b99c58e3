import { describe, expect, it } from '@jest/globals';
import {
  type UnopenedTaskTimes,
  unopenedTasksAfterSearch,
  workspaceUnavailableEvents,
} from '../../../../../a2a-server/executor/executions/tasks-no-server-can-open.ts';
import { foldNextEvents } from '../../../../../a2a-server/task/fold.ts';
import { modelNotOfferedEvents } from '../../../../../a2a-server/task/model-outage.ts';
import type { TaskEvent } from '../../../../../a2a-server/task/events.ts';
import { created, inputRequired, message, working } from '../../../../support/journal-samples.ts';
import { foldedTask } from '../../../../support/folded-task.ts';

const TASK = { taskId: 'a', workspace: '/work', label: null };

const taskAfter = (...events: TaskEvent[]) =>
  foldedTask([created('session'), message('do it'), ...events], 'a');

/** Returns the ids of the due tasks of each search, one search per time. */
function dueIn(searches: readonly (readonly [now: number, tasks: readonly (typeof TASK)[]])[]): string[][] {
  let unopened: UnopenedTaskTimes = new Map();
  return searches.map(([now, tasks]) => {
    const search = unopenedTasksAfterSearch(unopened, tasks, now);
    unopened = search.unopened;
    return search.due.map(({ taskId }) => taskId);
  });
}

describe('a task whose workspace this server cannot open', () => {
  it('R119 it is checked if no server has claimed it for 10 s', () => {
    expect(dueIn([1_000, 9_000, 10_999, 11_000].map((now) => [now, [TASK]]))).toEqual([[], [], [], ['a']]);
  });

  it('R119 the wait starts again if another server had claimed it meanwhile', () => {
    expect(
      dueIn([
        [1_000, [TASK]],
        [5_000, []],
        [9_000, [TASK]],
        [11_000, [TASK]],
      ]).flat(),
    ).toEqual([]);
  });

  it('R119 of hundreds of tasks, each is checked in one of the next searches, and then again', () => {
    const ids = Array.from({ length: 120 }, (_, index) => `task-${index}`);
    const tasks = ids.map((taskId) => ({ ...TASK, taskId }));
    const [, first = [], second = [], third = []] = dueIn(
      [0, 10_000, 11_000, 12_000].map((now) => [now, tasks]),
    );
    expect([...first, ...second, ...third.slice(0, 20)]).toEqual(ids);
    expect(third.slice(20)).toEqual(first.slice(0, 30));
  });

  it('R119 the task says once why it waits', () => {
    const task = taskAfter(working);
    const events = workspaceUnavailableEvents(task, TASK);
    expect(events).toMatchObject([{ text: expect.stringContaining('can open its workspace /work') }]);
    expect(workspaceUnavailableEvents(foldNextEvents(task, events), TASK)).toEqual([]);
  });

  it('R119 the text of a server that can open the workspace, but does not offer the model, stays', () => {
    const task = taskAfter(working);
    const told = foldNextEvents(task, modelNotOfferedEvents(task, 0));
    expect(workspaceUnavailableEvents(told, TASK)).toEqual([]);
  });

  it('R119 the text names the label that a server needs', () => {
    expect(workspaceUnavailableEvents(taskAfter(working), { ...TASK, label: 'disk-2' })).toMatchObject([
      { text: expect.stringContaining('no running server with the label disk-2 can open') },
    ]);
  });

  it('a task that waits for a person gets no such event', () => {
    expect(workspaceUnavailableEvents(taskAfter(working, inputRequired), TASK)).toEqual([]);
  });
});
