/** Names the state of a session in a list. Pure. */
import { taskStateWord } from '../../shared/text/task-state-word.ts';
import type { ListedSession } from './list-sessions.ts';

/**
 * Returns the state in words. If the task did not do all its calls, also says so, such as `completed, not all done`.
 */
export function stateWithNotDone({ state, notDone }: Pick<ListedSession, 'state' | 'notDone'>): string {
  return `${taskStateWord(state)}${notDone === '' ? '' : ', not all done'}`;
}
