/**
 * Keeps what the person has begun to write or to choose, while the page shows another task or the server asks again. A
 * decision, a reload or a sign-out drops it.
 */
import type { EditDraft } from './edit-draft.ts';
import type { FilledForm } from './question-answer.ts';

/** The texts of one task. `reasons`, `edits` and `answers` are by call id. */
export interface TaskDrafts {
  message: string;
  reasons: Map<string, string>;
  edits: Map<string, EditDraft>;
  answers: Map<string, FilledForm>;
}

export const noDrafts = (): TaskDrafts => ({
  message: '',
  reasons: new Map(),
  edits: new Map(),
  answers: new Map(),
});

/** Returns the drafts of a task. Adds them to `all` if the task has none. */
export function draftsOf(all: Map<string, TaskDrafts>, taskId: string): TaskDrafts {
  const known = all.get(taskId) ?? noDrafts();
  all.set(taskId, known);
  return known;
}

/** Drops the drafts of each call that no longer waits. */
export function dropDecidedDrafts(drafts: TaskDrafts, pending: readonly { callId: string }[]): void {
  const waiting = new Set(pending.map(({ callId }) => callId));
  for (const byCall of [drafts.reasons, drafts.edits, drafts.answers])
    for (const callId of byCall.keys()) if (!waiting.has(callId)) byCall.delete(callId);
}
