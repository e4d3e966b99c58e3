/** Computes a task's row in the index. J2: the row follows from the task's entries alone. */
import type { JournalEntry, TaskEvent, UserMessage } from '../task/events.ts';
import { deadlineAfterEvents } from '../task/expiry.ts';
import { taskStateAfter } from '../task/fold.ts';
import type { TaskRow } from './journal.ts';
import { agentCommandText } from '../../shared/protocol/agent-command.ts';

/** Builds a task's row from all of its entries. Returns undefined if the first entry is not `task.created`. */
export function buildTaskRow(taskId: string, entries: readonly JournalEntry[]): TaskRow | undefined {
  const first = entries[0];
  const last = entries.at(-1);
  if (first?.event.type !== 'task.created' || last === undefined) return undefined;
  const events = entries.map(({ event }) => event);
  return {
    taskId,
    sessionId: first.event.sessionId,
    principal: first.event.principal,
    state: taskStateAfter(events) ?? 'submitted',
    seq: last.seq,
    createdAt: first.at,
    updatedAt: last.at,
    title: taskTitle(events),
    deadline: deadlineAfterEvents(events) ?? null,
  };
}

/**
 * The maximum length of a title. It counts code points and not UTF-16 code units, so a shortened title never ends
 * with half a character.
 */
const MAX_TITLE_CODE_POINTS = 200;

/** Returns the first line of the first message with text, or ''. */
export function taskTitle(events: readonly TaskEvent[]): string {
  for (const event of events) {
    const line = event.type === 'message.received' ? firstLine(event.message) : '';
    if (line !== '') return line;
  }
  return '';
}

function firstLine(message: UserMessage): string {
  if (message.command) return cutTitle(agentCommandText(message.command));
  for (const part of message.parts) {
    if (part.type !== 'text') continue;
    const line = /\S[^\n\r]*/u.exec(part.text)?.[0];
    if (line !== undefined) return cutTitle(line);
  }
  return '';
}

function cutTitle(line: string): string {
  // A code point has at most two UTF-16 code units. `slice` shortens the line first, so `Array.from` never gets
  // megabytes of text.
  const characters = Array.from(line.slice(0, 2 * MAX_TITLE_CODE_POINTS + 1)).slice(0, MAX_TITLE_CODE_POINTS);
  // NUL and lone surrogates become U+FFFD, because a database cannot store them.
  return characters
    .join('')
    .replace(/[\0\p{Surrogate}]/gu, '\u{FFFD}')
    .trimEnd();
}
