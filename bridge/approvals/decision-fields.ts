/**
 * Builds the fields of a form that offers more than approve and deny (setting `forms: more`). Pure.
 *
 * In a window of 60 columns, Claude Code (measured with 2.1.330) cuts a title after 26 columns, and a description after 48.
 */
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import type { McpDecisionWord } from './decision-input.ts';
import type { FormField } from './form-field.ts';

export function decisionFormProperties(
  action: PendingAction,
  words: readonly McpDecisionWord[],
): Record<string, FormField> {
  return {
    decision: { type: 'string', title: 'Decision', enum: [...words], default: 'approve' },
    ...(words.includes('edit') ? editField(action) : {}),
    ...(words.some((word) => word.startsWith('trust_')) ? TRUST_LIMITS : {}),
    // MCP: only the action "accept" has content. So a client that declines sends no reason.
    reason: {
      type: 'string',
      title: 'Reason',
      description: 'Only Accept sends it, also with deny above.',
    },
  };
}

/**
 * The fields that limit how long a decision also covers later tool calls. The trust ends at the first limit that is
 * reached.
 */
const TRUST_LIMITS: Readonly<Record<string, FormField>> = {
  trustMinutes: {
    type: 'number',
    title: 'Trust for minutes',
    description: 'With trust_…. Empty: until the task ends.',
    minimum: 1,
  },
  trustUses: {
    type: 'integer',
    title: 'Trust for later calls',
    description: 'With trust_…. Empty: no limit.',
    minimum: 1,
  },
};

/** Returns the form field in which the person edits the file text, the command line or the JSON input. */
function editField({ preview, input }: PendingAction): Record<string, FormField> {
  if (preview.type === 'diff')
    return textField(
      'editedContent',
      'Write this instead',
      'Whole text to write or append. Empty: no change.',
    );
  if (preview.type === 'command' && typeof input['command'] === 'string')
    return textField('editedCommand', 'Run this instead', 'The whole command line. Empty: no change.');
  return textField('editedInput', 'Run this input instead', 'The whole input as JSON. Empty: no change.');
}

function textField(name: string, title: string, description: string): Record<string, FormField> {
  return { [name]: { type: 'string', title, description } };
}
