/** A task as the bridge sees it, for unit tests. */
import type { CallView, TaskView } from '../../bridge/sessions/session/observed-task.ts';

/** A working task that has done nothing yet. */
export function taskView(changes: Partial<TaskView> = {}): TaskView {
  return {
    taskId: 'task-1',
    sessionId: 'session-1',
    state: 'working',
    text: '',
    pending: [],
    question: null,
    calls: [],
    outputs: [],
    reply: '',
    cost: null,
    seq: null,
    ...changes,
  };
}

/** A call that waits for a decision. */
export function callView(changes: Partial<CallView> = {}): CallView {
  return {
    callId: 'one',
    tool: 'write-file',
    title: 'Write one.md',
    state: 'waiting',
    toolId: null,
    summary: null,
    startedAt: null,
    decided: null,
    ...changes,
  };
}
