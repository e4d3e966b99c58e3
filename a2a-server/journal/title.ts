/** What a list shows of a task: the first line of the first message that has text. */
import { commandLine } from '../../shared/protocol/agent-command.ts';
import type { TaskEvent, UserMessage } from '../task/events.ts';

/** In characters (code points), so that no character is cut in half. */
const LONGEST = 200;

/** @returns the title these events give a task that has none yet; empty when they hold no message with text. */
export function titleFrom(events: readonly TaskEvent[]): string {
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
  // A code point takes at most two code units; the head is cut first, for a line may be 10 MB long.
  const characters = Array.from(line.slice(0, 2 * LONGEST + 1)).slice(0, LONGEST);
  // A database keeps neither NUL nor half a surrogate pair: U+FFFD stands for them, as in UTF-8 decoding.
  return characters
    .join('')
    .replace(/[\0\p{Surrogate}]/gu, '\u{FFFD}')
    .trimEnd();
}
