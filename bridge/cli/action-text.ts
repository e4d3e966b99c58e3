/** A pending action as a person reads it before they decide: everything of it that the agent says, and nothing it can forge. */
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import { previewText, sourceText } from '../results/session-report.ts';
import type { Paint } from './terminal/paint.ts';
import { paintDiff } from './terminal/paint.ts';
import { visible, visibleLine } from './terminal/visible.ts';

const REASONS: Readonly<Record<PendingAction['reason'], string>> = {
  approval: '',
  'outcome-unknown': 'It was started before and its outcome was lost: approve runs it again, deny skips it.',
  'content-changed': 'What was shown before has changed since. This is how it is now.',
  question: 'It is a question: answer it, or deny it to decline.',
};

export function actionText(action: PendingAction, paint: Paint): string {
  const { callId, tool, title, source, sideEffect, reason, rule, preview, expiresAt } = action;
  const shown = visible(previewText(preview).trimEnd());
  const facts = [`${tool} (${sourceText(source)})`, `side effect: ${sideEffect}`];
  if (expiresAt !== null) facts.push(`expires ${expiresAt}`);
  if (rule !== undefined) facts.push(`asked for by ${rule}`);
  return [
    `${paint('bold', visibleLine(title))}  ${paint('gray', `call ${visibleLine(callId)}`)}`,
    paint('gray', visibleLine(facts.join(', '))),
    REASONS[reason] === '' ? '' : paint('yellow', REASONS[reason]),
    preview.type === 'diff'
      ? paintDiff(shown, paint)
      : preview.type === 'command'
        ? paint('cyan', shown)
        : shown,
  ]
    .filter((line) => line !== '')
    .join('\n');
}
