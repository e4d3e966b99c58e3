/**
 * Keeps the unsent texts and choices of the person. They stay while the page shows another task, or while the server
 * asks again about the same call. A decision, a reload or a sign-out drops them.
 */
import type { EditDraft } from './edit-draft.ts';
import type { FilledForm } from './question-answer.ts';

/** The texts of one task. `reasons`, `edits` and `answers` are by call id. */
export interface TaskDrafts {
  message: string;
  /** Settles when the request that sends the message has ended. Undefined if there is no such request. */
  sending: Promise<void> | undefined;
  reasons: Map<string, string>;
  edits: Map<string, EditDraft>;
  answers: Map<string, FilledForm>;
}

export const createTaskDrafts = (): TaskDrafts => ({
  message: '',
  sending: undefined,
  reasons: new Map(),
  edits: new Map(),
  answers: new Map(),
});

/** Returns the drafts of a task. Adds them to `all` if the task has none. */
export function draftsOfTask(all: Map<string, TaskDrafts>, taskId: string): TaskDrafts {
  const known = all.get(taskId) ?? createTaskDrafts();
  all.set(taskId, known);
  return known;
}

/** Drops the drafts of a decided call. */
export function dropDraftsOfCall({ reasons, edits, answers }: TaskDrafts, callId: string): void {
  for (const byCall of [reasons, edits, answers]) byCall.delete(callId);
}

/** Returns the texts that the person has written for a call. */
export function draftTextsOfCall({ reasons, edits, answers }: TaskDrafts, callId: string): string[] {
  const { text = '', values = {} } = answers.get(callId) ?? {};
  const texts = [reasons.get(callId) ?? '', ...editTexts(edits.get(callId)), text, ...Object.values(values)];
  return texts.filter((each) => each.trim() !== '');
}

function editTexts(draft: EditDraft | undefined): string[] {
  if (draft === undefined) return [];
  return draft.view === 'text' ? [draft.text] : [...draft.texts.values()];
}
