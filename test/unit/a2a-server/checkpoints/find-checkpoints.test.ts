import { expect, it } from '@jest/globals';
import { createCheckpointFinder } from '../../../../a2a-server/checkpoints/find-checkpoints.ts';
import type { TaskRow } from '../../../../a2a-server/journal/journal.ts';

const row = (taskId: string): TaskRow => ({
  taskId,
  sessionId: 's',
  principal: 'ada',
  state: 'completed',
  seq: 9,
  createdAt: 1,
  updatedAt: 1,
  title: '',
  deadline: null,
});

const unread = async (): Promise<undefined> => undefined;

it('a task that is deleted while a list is made does not count as damaged', async () => {
  const finder = createCheckpointFinder({
    journal: {
      withSavedFiles: async () => [row('task-deleted'), row('task-damaged')],
      content: unread,
      row: async (taskId) => (taskId === 'task-damaged' ? row(taskId) : undefined),
    },
    taskJournal: { load: unread, loadIfReadable: unread },
  });
  const { damaged } = await finder.list('ada');
  expect(damaged.map(({ taskId }) => taskId)).toEqual(['task-damaged']);
});
