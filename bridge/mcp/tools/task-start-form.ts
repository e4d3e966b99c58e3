/** Builds the form that asks a person to allow the start of a task. Pure. */
import { collapsedLine } from '../../../shared/text/shortened-text.ts';
import { withDirectionMarks } from '../../../shared/text/logical-order.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { Form } from '../../approvals/form-field.ts';
import { clippedFormRow, MAX_FORM_ROWS, bridgeTextRows, sentenceRows } from '../../approvals/form-rows.ts';
import type { RequestedTaskStart } from './ask-task-start-permission.ts';

/** Builds the form for the start of a task. Returns undefined if its text has more than `MAX_FORM_ROWS` rows. */
export function buildTaskStartForm(
  { task, unasked }: RequestedTaskStart,
  { outside, directory, columns }: { outside: boolean; directory: string; columns: number },
): Form | undefined {
  const question = unasked
    ? `May a task run every tool without asking you${outside ? ', outside of your directory' : ''}?`
    : 'May a task work outside of your directory?';
  const rows = [
    ...sentenceRows(question, columns),
    ...bridgeTextRows(`Directory: ${visibleLine(directory)}`, columns),
    clippedFormRow(`Task: ${visibleLine(collapsedLine(task, columns))}`, columns),
  ];
  if (rows.length > MAX_FORM_ROWS) return undefined;
  return {
    mode: 'form',
    message: withDirectionMarks(rows.join('\n')),
    requestedSchema: { type: 'object', properties: {} },
  };
}
