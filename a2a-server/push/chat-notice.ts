/** Writes the message that a chat gets about a task. Pure. */
import { type ChatMessage, chatLines } from '../../shared/chat/chat-message.ts';
import { taskStateWord } from '../../shared/text/task-state-word.ts';
import { pendingActions } from '../task/pending.ts';
import { isTerminal, type Snapshot } from '../task/snapshot.ts';

/**
 * Returns the message about the present state of a task. Undefined if the task neither waits nor has ended.
 * @param title the first words of the task
 * @param page the URL of the task on the approval page
 */
export function chatNotice(snapshot: Snapshot, title: string, page: string): ChatMessage | undefined {
  const about = `${snapshot.principal}, ${snapshot.sessionId}${title === '' ? '' : `: ${title}`}`;
  if (isTerminal(snapshot))
    return {
      title: `A task has ended: ${taskStateWord(snapshot.status.state)}`,
      lines: chatLines(about, []),
      page,
    };
  const asked = waitsFor(snapshot);
  return asked.length === 0
    ? undefined
    : { title: 'A task waits for a decision', lines: chatLines(about, asked), page };
}

/** Returns one line for each thing that the task waits for. */
function waitsFor(snapshot: Snapshot): readonly string[] {
  const { status } = snapshot;
  if (status.state === 'auth-required') return [`Sign in: ${status.question}`];
  if (status.state !== 'input-required') return [];
  if (status.pending.length === 0) return [`Question: ${status.question}`];
  return pendingActions(snapshot).map(({ tool, title }) => `${tool}: ${title}`);
}
