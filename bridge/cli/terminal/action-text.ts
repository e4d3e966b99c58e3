/** Formats a complete pending action for a person at a terminal. Pure. */
import { approvalNeededText, otherApprover } from '../../../shared/protocol/demanded-approver.ts';
import { quotedPreview, sourceText } from '../../../shared/protocol/preview-text.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { Paint } from './paint.ts';
import { paintDiff } from './paint.ts';

const REASONS: Readonly<Record<PendingAction['reason'], string>> = {
  approval: '',
  'outcome-unknown': 'It was started before and its outcome was lost: approve runs it again, deny skips it.',
  'content-changed': 'What was shown before has changed since. This is how it is now.',
  question: 'It is a question: answer it, or deny it to decline.',
};

export function actionText(action: PendingAction, paint: Paint): string {
  const { callId, shown: code, tool, title, source, sideEffect, reason, rule, preview, expiresAt } = action;
  const { text } = quotedPreview(preview);
  const approver = otherApprover(action);
  // Only the person who may answer needs to know how.
  const why = reason === 'question' && approver !== undefined ? '' : REASONS[reason];
  const facts = [`${tool} (${sourceText(source)})`, `side effect: ${sideEffect}`];
  if (expiresAt !== null) facts.push(`expires ${expiresAt}`);
  if (rule !== undefined) facts.push(`asked for by ${rule}`);
  return [
    `${paint('bold', visibleLine(title))}  ${paint('gray', `call ${visibleLine(callId)}, code ${visibleLine(code)}`)}`,
    paint('gray', visibleLine(facts.join(', '))),
    why === '' ? '' : paint('yellow', why),
    approver === undefined ? '' : paint('yellow', `${approvalNeededText(approver)}.`),
    preview.type === 'diff'
      ? paintDiff(text, paint)
      : preview.type === 'command'
        ? paint('cyan', text)
        : text,
  ]
    .filter((line) => line !== '')
    .join('\n');
}
