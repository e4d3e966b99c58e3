/** Computes a task's row of the index, and its title, from its entries (J2). */
import type { JournalEntry, TaskEvent, UserMessage } from '../task/events.ts';
import { deadlineAfter } from '../task/expiry.ts';
import { taskStateAfter } from '../task/fold.ts';
import type { TaskRow } from './journal.ts';
import { commandLine } from '../../shared/protocol/agent-command.ts';

/** Computes the index row. @param entries all entries of the task. @returns undefined if they do not start a task */
export function indexRow(taskId: string, entries: readonly JournalEntry[]): TaskRow | undefined {
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
    deadline: deadlineAfter(events) ?? null,
  };
}

/** Maximum length of a title in code points, so that the cut never splits a character. */
const LONGEST = 200;

/** Builds the title of a task from its first message with text. @returns '' if no message has text */
export function taskTitle(events: readonly TaskEvent[]): string {
  for (const event of events) {
    const line = event.type === 'message.received' ? firstLine(event.message) : '';
    if (line !== '') return line;
  }
  return '';
}

function firstLine(message: UserMessage): string {
  if (message.command) return cut(commandLine(message.command));
  for (const part of message.parts) {
    if (part.type !== 'text') continue;
    const line = /\S[^\n\r]*/u.exec(part.text)?.[0];
    if (line !== undefined) return cut(line);
  }
  return '';
}

function cut(line: string): string {
  // The line may be 10 MB long, so slice it first. A code point has at most two code units.
  const characters = Array.from(line.slice(0, 2 * LONGEST + 1)).slice(0, LONGEST);
  // A database cannot store NUL or a lone surrogate. Replace them with U+FFFD, as UTF-8 decoders do.
  return characters
    .join('')
    .replace(/[\0\p{Surrogate}]/gu, '\u{FFFD}')
    .trimEnd();
}
