/** Tells a person at a terminal how to decide a pending action. Pure. */
import {
  approvalNeededText,
  approverInsteadOfReader,
  choicesWithoutDecisionText,
} from '../../../shared/protocol/demanded-approver.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { commandWord } from './command-word.ts';

/** The reason why no command can approve an action that demands presence. */
const PASSKEY_ON_PAGE = 'A rule demands your passkey. Approve it on the page: mcp-a2a-bridge page.';

/**
 * Returns the error for a decision that only another person, or only the page, can make. Commands throw it before they
 * ask the person. Returns undefined if this person may make this decision here.
 */
export function decisionElsewhereError(
  action: PendingAction,
  word: 'approve' | 'deny' | 'edit' | 'answer',
): ProductError | undefined {
  const other = approverInsteadOfReader(action);
  if (other !== undefined && !action.decisions.includes(word))
    return new ProductError(
      'OTHER_APPROVER_REQUIRED',
      `${approvalNeededText(other)}. Nothing was decided. ${howToDecideText(action)}`,
    );
  if (action.presence === true && (word === 'approve' || word === 'edit'))
    return new ProductError('PRESENCE_REQUIRED', `${PASSKEY_ON_PAGE} Nothing was decided.`);
  return undefined;
}

/** Returns a sentence with the command that answers a plain-text question. */
export function howToAnswerText({ shown }: { shown: string }): string {
  return `Answer with: mcp-a2a-bridge answer ${commandWord(shown)} <words>`;
}

/**
 * Returns a sentence with the command that decides the action. The command makes only decisions that the reader is
 * allowed to make.
 */
export function howToDecideText(action: PendingAction): string {
  const code = commandWord(action.shown);
  const deny = `Deny it with: mcp-a2a-bridge deny ${code}`;
  const other = approverInsteadOfReader(action);
  if (other !== undefined)
    return action.decisions.includes('deny') ? deny : `You can only ${choicesWithoutDecisionText(other)}.`;
  if (action.presence === true) return `${PASSKEY_ON_PAGE} ${deny}`;
  const command = action.decisions.includes('answer') ? `answer ${code} <words>` : `approve ${code}`;
  const others = (['deny', 'edit'] as const).filter((word) => action.decisions.includes(word));
  return `Decide with: mcp-a2a-bridge ${command}${others.length === 0 ? '' : ` (or ${others.join(', ')})`}`;
}
