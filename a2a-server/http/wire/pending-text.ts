/**
 * Describes pending actions as the text of a status message. Clients without the approval extension get only this text.
 */
import { approvalNeededText, approverInsteadOfReader } from '../../../shared/protocol/demanded-approver.ts';
import { quotedAction, quotedPreview, TEXT_PART_LIMITS } from '../../../shared/protocol/preview-text.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { Question } from '../../../shared/protocol/question.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';

const REASON_TEXTS: Readonly<Record<PendingAction['reason'], string>> = {
  approval: '',
  'outcome-unknown':
    ' It was running when the server stopped, and its outcome is unknown: approve runs it again, deny skips it.',
  'content-changed': ' What was shown before has changed since. This is how it is now.',
  question: '',
};

export function pendingActionsText(pending: readonly PendingAction[]): string {
  const [first, second] = pending;
  if (first === undefined) return 'The task waits for input.';
  if (second === undefined) return `${actionDescription(first)}\n\n${howToAnswer(first)}`;
  const actions = pending.map((action, index) => `${index + 1}. ${actionDescription(action)}`);
  return `${pending.length} actions wait for a decision.\n\n${actions.join('\n\n')}\n\n${howToDecideEach(pending)}`;
}

function howToDecideEach(pending: readonly PendingAction[]): string {
  const others = pending.flatMap((action) => {
    const approver = approverInsteadOfReader(action);
    return approver === undefined ? [] : [`${visibleLine(action.callId)}: ${approvalNeededText(approver)}.`];
  });
  const decidable = pending.filter(({ decisions }) => decisions.length > 0);
  const named = decidable.map(({ callId, shown }) => `${callId} ${shown}`).join(', ');
  const how =
    decidable.length === 0
      ? []
      : [
          `Decide each by its call id and its code (${named}), with a decisions part of the tool-approval extension.`,
        ];
  return [...others, ...how].join('\n');
}

function howToAnswer(action: PendingAction): string {
  const { preview, first, shown, presence, decisions } = action;
  const approver = approverInsteadOfReader(action);
  // D2: the plain word `approve` could be the reply to an earlier question. So after the first question, the person
  // must add the code.
  const code = first === true ? '' : ` ${shown}`;
  if (approver !== undefined)
    return decisions.includes('deny')
      ? `${approvalNeededText(approver)}. Answer with exactly "deny${code}", or leave it waiting.`
      : `${approvalNeededText(approver)}. You cannot decide it.`;
  if (presence === true)
    return `Answer with exactly "deny${code}", or approve it with your passkey on the approval page of this server. \`mcp-a2a-bridge page\` prints a link to the page.`;
  // D5: if the preview is incomplete, a plain word must not approve the action.
  if (preview.type !== 'question' && quotedPreview(action, TEXT_PART_LIMITS).extent === 'cut')
    return `It is too long to show here, so you cannot approve it here. Answer with exactly "deny${code}", or decide in a client with the tool-approval extension, which shows all of it.`;
  if (preview.type !== 'question') return `Answer with exactly "approve${code}" or "deny${code}".`;
  const withCode =
    first === true || !takesPlainWord(preview)
      ? ''
      : ` Put "answer ${shown}" before an answer that is only the word "approve" or "deny".`;
  if (preview.schema !== undefined) return 'Answer with a JSON object that has these fields.';
  if (preview.choices === undefined) return `The next message is the answer.${withCode}`;
  const other = preview.freeText ? ', or with your own text' : '';
  return preview.multiple
    ? `Answer with your choices, separated by commas${other}.${withCode}`
    : `Answer with exactly one of the choices${other}.${withCode}`;
}

/** Returns true if `approve` and `deny` can also be answers to the question. */
function takesPlainWord({ choices, freeText }: Question): boolean {
  if (choices === undefined || freeText === true) return true;
  return choices.some(({ label }) => label === 'approve' || label === 'deny');
}

function actionDescription(action: PendingAction): string {
  const { title, tool, callId, reason, rule, preview, expiresAt } = action;
  const until = expiresAt === null ? '' : ` It waits until ${expiresAt}.`;
  const { text } = quotedAction(action, TEXT_PART_LIMITS);
  const call = `call ${visibleLine(callId)}`;
  if (preview.type === 'question')
    return `The agent asks a question (${visibleLine(tool)}, ${call}).${until}\n\n${text}`;
  return `The agent wants to run ${visibleLine(tool)}: ${visibleLine(title)} (${call}).${REASON_TEXTS[reason]}${rule === undefined ? '' : ` This rule requires a decision: ${visibleLine(rule)}.`}${until}\n\n${text}`;
}
