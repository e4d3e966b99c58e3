/**
 * Selects the text that a person may edit in a pending action: the content to write, the command line, or the JSON
 * input.
 */
import type { Decision, PendingAction } from '../../../../shared/client/index.ts';

export interface Editable {
  /** The kind of text that a person edits. `input` is the whole input as JSON, and may be edited in a form. */
  type: 'content' | 'command' | 'input';
  text: string;
  /** Returns the decision for the edited text. @throws Error if the text is not a valid input */
  decision: (edited: string) => Decision;
}

export function editableOf({ callId, shown, input, preview }: PendingAction): Editable {
  const { content, command } = input;
  if (preview.type === 'diff' && typeof content === 'string')
    return {
      type: 'content',
      text: content,
      decision: (edited) => ({ callId, shown, decision: 'edit', content: edited }),
    };
  if (preview.type === 'command' && typeof command === 'string')
    return {
      type: 'command',
      text: command,
      decision: (edited) => ({ callId, shown, decision: 'edit', input: { ...input, command: edited } }),
    };
  return {
    type: 'input',
    text: JSON.stringify(input, null, 2),
    decision: (edited) => ({ callId, shown, decision: 'edit', input: parseJsonObject(edited) }),
  };
}

/** Returns the text with LF as the only line break, as a text field of a browser returns it. */
export function withLfLineBreaks(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

/**
 * Returns the edited text. If all line breaks of the proposed text are CRLF, the returned text has CRLF too.
 * @param edited the text of the field
 */
export function withLineBreaksOf(proposed: string, edited: string): string {
  const isWindows = proposed.includes('\n') && !/\r(?!\n)|(?<!\r)\n/.test(proposed);
  return isWindows ? edited.replaceAll('\n', '\r\n') : edited;
}

/** @throws Error if the text is not a JSON object */
export function parseJsonObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('The input is a JSON object.');
  return Object.fromEntries(Object.entries(value));
}
