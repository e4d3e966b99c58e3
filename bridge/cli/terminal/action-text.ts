/**
 * Formats a complete pending action for a person at a terminal. Pure.
 *
 * A terminal continues a long line at the first column of the next row. Untrusted text could look like the program's
 * own text there. So this module wraps each line itself, and marks the rows that continue a line.
 */
import { approvalNeededText, approverInsteadOfReader } from '../../../shared/protocol/demanded-approver.ts';
import { quotedAction, toolSourceText } from '../../../shared/protocol/preview-text.ts';
import { SIDE_EFFECT_TEXTS } from '../../../shared/protocol/side-effect-text.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { displayWidth } from '../../text/display-width.ts';
import { withDirectionMarks } from '../../../shared/text/logical-order.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { paintDiff } from './paint.ts';
import { cutToWidth } from './table.ts';
import type { Terminal } from './terminal.ts';
import { wrapIntoRows, wrapIntoRowsAtWords } from './rows.ts';

const REASONS: Readonly<Record<PendingAction['reason'], string>> = {
  approval: '',
  'outcome-unknown': 'It was started before and its outcome was lost: approve runs it again, deny skips it.',
  'content-changed': 'What was shown before has changed since. This is how it is now.',
  question: 'It is a question: answer it, or deny it to decline.',
};

type Columns = Pick<Terminal, 'paint' | 'width'>;

export function actionText(action: PendingAction, { paint, width }: Columns): string {
  const { callId, shown: code, tool, title, source, sideEffect, reason, rule, preview, expiresAt } = action;
  // The choices are numbered, because the person may type the number of a choice.
  const { text } = quotedAction(action, undefined, (at) => `${String(at + 1)}.`);
  const approver = approverInsteadOfReader(action);
  // Only a person who may answer the question needs to know how to answer it.
  const why = reason === 'question' && approver !== undefined ? '' : REASONS[reason];
  const facts = [`${tool} (${toolSourceText(source)})`];
  if (SIDE_EFFECT_TEXTS[sideEffect] !== '') facts.push(SIDE_EFFECT_TEXTS[sideEffect]);
  if (expiresAt !== null) facts.push(`waits until ${minuteOf(expiresAt)}`);
  if (rule !== undefined) facts.push(`required by ${rule}`);
  const ids = `call ${visibleLine(callId)}, code ${visibleLine(code)}`;
  const own = (line: string): string => wrapIntoRowsAtWords(line, width);
  const exact = (line: string): string => wrapIntoRows(line, width);
  const shown = [
    titleRows({ title: visibleLine(title), ids }, { paint, width }),
    paint('gray', own(visibleLine(facts.join(', ')))),
    why === '' ? '' : paint('yellow', own(why)),
    approver === undefined ? '' : paint('yellow', own(`${approvalNeededText(approver)}.`)),
    preview.type === 'diff'
      ? paintDiff(text, paint, exact)
      : preview.type === 'command'
        ? paint('cyan', exact(text))
        : exact(text),
  ]
    .filter((line) => line !== '')
    .join('\n');
  // Direction marks are only for a terminal. A program that reads a pipe must get the text without them. A question is
  // prose and no command, so a terminal may reorder its right-to-left words.
  return width === undefined || preview.type === 'question' ? shown : withDirectionMarks(shown);
}

/**
 * Returns the title and the ids: in one row if they fit, otherwise in two. The title is cut to one row, because the
 * preview shows the whole action.
 */
function titleRows({ title, ids }: { title: string; ids: string }, { paint, width }: Columns): string {
  if (width === undefined) return `${paint('bold', title)}  ${paint('gray', ids)}`;
  const withoutTabs = title.replaceAll('\t', '⟨tab⟩');
  if (displayWidth(`${withoutTabs}  ${ids}`) <= width)
    return `${paint('bold', withoutTabs)}  ${paint('gray', ids)}`;
  return `${paint('bold', cutToWidth(withoutTabs, width))}\n${paint('gray', wrapIntoRowsAtWords(ids, width))}`;
}

/** Returns a time such as `2026-12-04 10:24 UTC`. If the agent's text is not a time, returns that text. */
function minuteOf(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
