/** Lists the approval requests of a task: one for each pending action or question. Pure. */
import { createHash } from 'node:crypto';
import type { TaskView } from '../../sessions/session/observed-task.ts';

/** A request for one decision. If the content of the tool call changes, it is a new request. */
export interface ApprovalRequestId {
  callId: string;
  /** The code of what the request shows. D2: a decision is valid only for what the person saw. */
  shown: string;
}

/** Returns the key of a request. It is unique within a task. */
export function approvalRequestKey({ callId, shown }: ApprovalRequestId): string {
  return `${callId} ${shown}`;
}

/**
 * Returns the ids of the requests that wait for a decision.
 * @param settled true if the task waits or has ended. Before that, a listed action may already be decided, so the list
 * is empty.
 */
export function approvalRequestIdsOf(
  view: TaskView | undefined,
  settled: boolean,
): readonly ApprovalRequestId[] {
  if (view === undefined || !settled) return [];
  const { pending, question } = view;
  const actions = pending.map(({ callId, shown }) => ({ callId, shown }));
  return question === null ? actions : [...actions, { callId: question.id, shown: question.shown }];
}

/**
 * Returns the id of a post about these requests. Every bridge computes the same id for the same requests.
 * @param what the kind of post
 */
export function webhookPostId(
  task: { agent: string; taskId: string },
  askings: readonly ApprovalRequestId[],
  what: string,
): string {
  const about = [what, task.agent, task.taskId, ...askings.map(approvalRequestKey).toSorted()];
  return `msg_${createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 32)}`;
}
