/**
 * Builds the fields of a form that offers more than approve and deny (setting `forms: more`). Pure.
 *
 * In a window of 60 columns, Claude Code (measured with 2.1.330) cuts a title after 26 columns, and a description after
 * 48. In a window of 40 columns, it cuts a title after 7 columns.
 */
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import type { McpDecisionWord } from './decision-input.ts';
import type { FormField } from './form-field.ts';

export function decisionFormProperties(
  action: PendingAction,
  words: readonly McpDecisionWord[],
): Record<string, FormField> {
  const offersTrust = words.some((word) => word.startsWith('trust_'));
  return {
    decision: {
      type: 'string',
      title: 'Decision',
      ...(offersTrust && { description: 'Trust also approves later calls of this task.' }),
      enum: [...words],
      // Clients of MCP 2025-06-18 know no titles in `oneOf`. Newer clients also show `enumNames`.
      enumNames: words.map((word) => WORD_TITLES[word]),
      default: 'approve',
    },
    ...(words.includes('edit') ? editField(action) : {}),
    ...(offersTrust ? TRUST_LIMITS : {}),
    // MCP: only the action "accept" has content. So a client that declines sends no reason.
    reason: {
      type: 'string',
      title: 'Reason',
      description: 'Only Accept sends it, also with Deny above.',
    },
  };
}

/** The titles are short, because a window of 40 columns cuts a choice after 20 columns. */
const WORD_TITLES: Readonly<Record<McpDecisionWord, string>> = {
  approve: 'Approve once',
  deny: 'Deny',
  edit: 'Use my edit below',
  trust_tool: 'Trust this tool',
  trust_server: 'Trust this server',
  trust_always: 'Trust everything',
  answer: 'Answer',
};

/**
 * The fields that limit how long a decision also covers later tool calls. The trust ends at the first limit that is
 * reached.
 */
const TRUST_LIMITS: Readonly<Record<string, FormField>> = {
  trustMinutes: {
    type: 'number',
    title: 'Minutes of trust',
    description: 'With Trust above. Empty: until the task ends.',
    minimum: 1,
  },
  trustUses: {
    type: 'integer',
    title: 'Calls to trust',
    description: 'With Trust above. Empty: no limit.',
    minimum: 1,
  },
};

/** Returns the form field in which the person edits the file text, the command line or the JSON input. */
function editField({ preview, input }: PendingAction): Record<string, FormField> {
  if (preview.type === 'diff')
    return textField('editedContent', 'Edited text', 'Whole text to write or append. Empty: no change.');
  if (preview.type === 'command' && typeof input['command'] === 'string')
    return textField('editedCommand', 'Edited command', 'The whole command line. Empty: no change.');
  return textField('editedInput', 'Edited input', 'The whole input as JSON. Empty: no change.');
}

function textField(name: string, title: string, description: string): Record<string, FormField> {
  return { [name]: { type: 'string', title, description } };
}
