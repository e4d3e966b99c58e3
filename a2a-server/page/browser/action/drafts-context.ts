import { createContext } from 'preact';
import { createTaskDrafts } from './drafts.ts';

/** The drafts of the shown task. The default belongs to the approval card in a chat, which shows one session. */
export const TaskDraftsContext = createContext(createTaskDrafts());
