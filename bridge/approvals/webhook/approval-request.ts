/** What a task asks a person at the moment, action by action. Pure. */
import { createHash } from 'node:crypto';
import type { TaskView } from '../../sessions/task-view.ts';

/** One asking of one call: what is asked again with something else is another. */
export interface ApprovalRequest {
  callId: string;
  /** The code of what is asked: a decision binds to it (D2). */
  shown: string;
}

/** Tells one asking of a task from another. */
export function requestKey({ callId, shown }: ApprovalRequest): string {
  return `${callId} ${shown}`;
}

/** @param settled whether the task stands still: until then what is shown may have been decided */
export function approvalRequestsOf(view: TaskView | undefined, settled: boolean): readonly ApprovalRequest[] {
  if (view === undefined || !settled) return [];
  const { pending, question } = view;
  const actions = pending.map(({ callId, shown }) => ({ callId, shown }));
  return question === null ? actions : [...actions, { callId: question.id, shown: question.shown }];
}

/** A name for these askings of a task, the same by whichever bridge. @param what of several posts about them */
export function postId(
  task: { agent: string; taskId: string },
  askings: readonly ApprovalRequest[],
  what: string,
): string {
  const about = [what, task.agent, task.taskId, ...askings.map(requestKey).toSorted()];
  return `msg_${createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 32)}`;
}
