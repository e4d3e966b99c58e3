/** Converts a pending action to editable text, and the edited text to a decision. Pure. */
import { extname } from 'node:path';
import { z } from 'zod';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { UsageError } from '../terminal/exit-codes.ts';

export interface EditableText {
  text: string;
  /** The file extension for the editor, which chooses the syntax by it. */
  extension: string;
  /**
   * Converts the edited text to the content of a decision.
   * @throws UsageError if the text is not valid
   */
  decision: (edited: string) => { editedContent: string } | { editedInput: Record<string, unknown> };
}

const object = z.record(z.string(), z.unknown());

/**
 * Returns the part of an action that a person edits: the text of the file, the command line, or else the whole input as
 * JSON.
 */
export function editableTextOf({ input, preview, callId }: PendingAction): EditableText {
  const { content, command } = input;
  if (preview.type === 'diff' && typeof content === 'string') {
    const extension = extname(preview.path);
    return {
      text: content,
      extension: /^\.[A-Za-z0-9]{1,16}$/.test(extension) ? extension : '.txt',
      decision: (editedContent) => ({ editedContent }),
    };
  }
  if (preview.type === 'command' && typeof command === 'string') {
    return {
      text: `${command}\n`,
      extension: '.sh',
      // Editors add a line break at the end of a file. It is not part of the command.
      decision: (edited) => ({ editedInput: { ...input, command: edited.replace(/\r?\n$/, '') } }),
    };
  }
  return {
    text: `${JSON.stringify(input, null, 2)}\n`,
    extension: '.json',
    decision: (edited) => ({ editedInput: parseEditedObject(edited, callId) }),
  };
}

function parseEditedObject(text: string, callId: string): Record<string, unknown> {
  try {
    return object.parse(JSON.parse(text));
  } catch (error) {
    const problem = error instanceof z.ZodError ? 'it is not a JSON object' : errorMessageOf(error);
    throw new UsageError(`The edited input of ${callId} cannot be sent: ${problem}. Nothing was decided.`);
  }
}
