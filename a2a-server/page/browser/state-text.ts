import type { TaskReport, TaskState } from '../../../shared/client/index.ts';
import { approverInsteadOfReader } from '../../../shared/protocol/demanded-approver.ts';

export const STATE_TEXTS: Readonly<Record<TaskState, string>> = {
  'not-delivered': 'not delivered',
  waiting: 'waiting',
  working: 'working',
  completed: 'completed',
  canceled: 'cancelled',
  failed: 'failed',
  rejected: 'rejected by the agent',
};

/** Returns the state of a task for this person. A waiting task may have only actions that somebody else must decide. */
export function stateText({ state, pending }: Pick<TaskReport, 'state' | 'pending'>): string {
  if (state !== 'waiting') return STATE_TEXTS[state];
  const others =
    pending.length > 0 && pending.every((action) => approverInsteadOfReader(action) !== undefined);
  return others ? 'waits for somebody else' : 'waits for you';
}
