/** Lists the decisions that a task waits for, one for each action. Pure. */
import { createHash } from 'node:crypto';
import type { TaskView } from '../../sessions/task-view.ts';

/** One request for a decision on one call. The same call with other content is another request. */
export interface ApprovalRequest {
  callId: string;
  /** The code of the shown content. A decision carries this code (D2). */
  shown: string;
}

/** Identifies a request within a task. */
export function requestKey({ callId, shown }: ApprovalRequest): string {
  return `${callId} ${shown}`;
}

/**
 * @param settled whether the task waits or has ended. Before that, a pending action of the view may be decided already.
 */
export function approvalRequestsOf(view: TaskView | undefined, settled: boolean): readonly ApprovalRequest[] {
  if (view === undefined || !settled) return [];
  const { pending, question } = view;
  const actions = pending.map(({ callId, shown }) => ({ callId, shown }));
  return question === null ? actions : [...actions, { callId: question.id, shown: question.shown }];
}

/** An id for a post about these requests. Every bridge computes the same id. @param what the kind of post */
export function postId(
  task: { agent: string; taskId: string },
  askings: readonly ApprovalRequest[],
  what: string,
): string {
  const about = [what, task.agent, task.taskId, ...askings.map(requestKey).toSorted()];
  return `msg_${createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 32)}`;
}
