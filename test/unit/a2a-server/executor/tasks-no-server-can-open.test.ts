import { describe, expect, it } from '@jest/globals';
import {
  isTooLateToClaim,
  updateFirstFoundTimes,
  workspaceUnavailableEvents,
} from '../../../../a2a-server/executor/tasks-no-server-can-open.ts';
import { foldAll, foldNext } from '../../../../a2a-server/task/fold.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { created, inputRequired, message, working } from '../../../support/journal-samples.ts';

const TASK = { taskId: 'a', workspace: '/work', label: null };

function taskAfter(...events: TaskEvent[]) {
  const all = [created('session'), message('do it'), ...events];
  const snapshot = foldAll(
    'a',
    all.map((event, index) => ({ seq: index + 1, at: 1, event })),
  );
  if (snapshot === undefined) throw new Error('the sample is empty');
  return snapshot;
}

describe('a task whose workspace this server cannot open', () => {
  it('R119 it is stranded if no server has claimed it for 10 s', () => {
    const first = updateFirstFoundTimes(new Map(), [TASK], 1_000);
    const later = updateFirstFoundTimes(first, [TASK], 9_000);
    expect([10_999, 11_000].map((now) => isTooLateToClaim(later, 'a', now))).toEqual([false, true]);
  });

  it('R119 the wait starts again if another server had claimed it meanwhile', () => {
    const first = updateFirstFoundTimes(new Map(), [TASK], 1_000);
    const again = updateFirstFoundTimes(updateFirstFoundTimes(first, [], 5_000), [TASK], 9_000);
    expect(isTooLateToClaim(again, 'a', 11_000)).toBe(false);
  });

  it('R119 the task says once why it waits', () => {
    const task = taskAfter(working);
    const events = workspaceUnavailableEvents(task, TASK);
    expect(events).toMatchObject([{ text: expect.stringContaining('can open its workspace /work') }]);
    expect(workspaceUnavailableEvents(foldNext(task, events), TASK)).toEqual([]);
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
