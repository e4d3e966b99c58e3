/** `edit`: approves a pending action as the person has changed it. */
import { text as readText } from 'node:stream/consumers';
import { readFile } from 'node:fs/promises';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { messageOf, ProductError } from '../../../shared/errors.ts';
import { quoted } from '../../../shared/visible-text.ts';
import { verdictOf } from '../../approvals/decision-words.ts';
import { actionText } from '../action-text.ts';
import { agreed, mustBeAskable } from '../agreed.ts';
import { openDesk } from '../desk.ts';
import { type Editable, editableOf } from '../editable.ts';
import { EXIT_FAILURE, UsageError } from '../exit-codes.ts';
import { actionsMeant } from '../meant.ts';
import { reportDecision } from '../report-decision.ts';
import type { CommonOptions, Run } from '../run.ts';
import { sendVerdicts } from '../send-verdicts.ts';
import { edited } from '../terminal/editor.ts';
import { paintDiff } from '../terminal/paint.ts';

export interface EditOptions extends CommonOptions {
  yes?: boolean;
  reason?: string;
  /** Takes the edited text from there, `-` being stdin, and opens no editor. */
  file?: string;
}

/** @throws ProductError; UsageError */
export async function edit(
  run: Run<EditOptions>,
  given: { what: string; call: string | undefined },
): Promise<number> {
  const { options, terminal } = run;
  const desk = await openDesk(run);
  const {
    session,
    actions: [action],
    seen,
  } = await actionsMeant(desk.sessions, given, false);
  if (action === undefined)
    throw new ProductError('UNKNOWN_CALL', 'No action waits: there is nothing to edit.');
  const { callId, shown } = action;
  const asking = { json: options.json === true, yes: seen && options.yes === true };
  const editable = editableOf(action);
  if (options.json !== true) terminal.say(`${actionText(action, terminal.paint)}\n`);
  // Before anybody goes to the trouble of editing.
  mustBeAskable(terminal, asking);
  const changed = await changedText(run, editable);
  if (changed === editable.text) {
    terminal.complain(
      'Nothing was changed, so nothing was decided. To run it as it is: mcp-a2a-bridge approve',
    );
    return EXIT_FAILURE;
  }
  const decision = editable.decision(changed);
  if (options.json !== true) {
    const diff = createTwoFilesPatch('proposed', 'edited', editable.text, changed, undefined, undefined, {
      headerOptions: FILE_HEADERS_ONLY,
    });
    terminal.say(paintDiff(quoted(diff).text, terminal.paint));
  }
  if (!(await agreed(terminal, asking, 'Approve it with this change?'))) {
    terminal.say('Nothing was decided.');
    return EXIT_FAILURE;
  }
  const reason = options.reason === undefined ? {} : { reason: options.reason };
  await sendVerdicts(session, [verdictOf({ callId, shown, decision: 'edit', ...decision, ...reason })]);
  reportDecision(run, session, [{ callId, decision: 'edit' }]);
  await desk.close();
  return 0;
}

async function changedText(
  { options, env }: Run<EditOptions>,
  { text, extension }: Editable,
): Promise<string> {
  const { file } = options;
  if (file === undefined) return edited({ text, extension, env });
  try {
    return file === '-' ? await readText(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `The edited text cannot be read from ${file}: ${messageOf(error)}. Nothing was decided.`,
    );
  }
}
