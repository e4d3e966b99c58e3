/**
 * Keeps the texts that the person has begun to write, while the page shows another task or the server asks again. A
 * reload or a sign-out drops them.
 */
import { createContext } from 'preact';
import type { EditDraft } from './edit-draft.ts';

/** The texts of one task. `reasons` and `edits` are by call id. */
export interface TaskDrafts {
  message: string;
  reasons: Map<string, string>;
  edits: Map<string, EditDraft>;
}

export const noDrafts = (): TaskDrafts => ({ message: '', reasons: new Map(), edits: new Map() });

/** The drafts of the shown task. The default belongs to the approval card in a chat, which shows one session. */
export const DraftsContext = createContext(noDrafts());

/** Returns the drafts of a task. Adds them to `all` if the task has none. */
export function draftsOf(all: Map<string, TaskDrafts>, taskId: string): TaskDrafts {
  const known = all.get(taskId) ?? noDrafts();
  all.set(taskId, known);
  return known;
}
