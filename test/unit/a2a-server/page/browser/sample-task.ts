import type { GroupedTask } from '../../../../../shared/protocol/task-groups.ts';

const NOTHING = { inputTokens: 0, outputTokens: 0, usd: 0 };

/** A row of the task list, as the server sends it. */
export function sampleTask(taskId: string, changed: Partial<GroupedTask> = {}): GroupedTask {
  return {
    taskId,
    sessionId: `session of ${taskId}`,
    title: `do ${taskId}`,
    state: 'completed',
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-01T00:00:00Z',
    workspace: null,
    model: null,
    cost: { task: NOTHING, session: NOTHING },
    notDone: '',
    waitingFor: null,
    waitingSince: null,
    activity: '',
    ...changed,
  };
}
