/** The command `edit`: approves a pending action with the person's changes. */
import { text as readText } from 'node:stream/consumers';
import { readFile } from 'node:fs/promises';
import { quote } from 'shell-quote';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { fileProblem } from '../../../shared/runtime/file-problem.ts';
import { withDirectionMarks } from '../../../shared/text/logical-order.ts';
import { unifiedDiffOfTexts } from '../../../shared/text/unified-diff.ts';
import { quotedText } from '../../../shared/text/visible-text.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { toPersonDecision } from '../../approvals/decision-input.ts';
import { actionText } from '../terminal/action-text.ts';
import type { Session } from '../../sessions/session/session.ts';
import { askToConfirm, requireInteractiveTerminal } from '../terminal/confirm.ts';
import { decisionElsewhereError } from '../terminal/how-to-decide.ts';
import { type EditableText, editableTextOf } from '../decisions/editable-text.ts';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { resolveActions } from '../decisions/resolve-id.ts';
import { printDecisionOutcome } from '../decisions/print-decision-outcome.ts';
import type { CommandRun } from '../context/run-command.ts';
import { sendDecisionsFromTerminal } from '../decisions/send-decisions.ts';
import { type EditedFile, editInEditor, hasOwnEditor } from '../terminal/editor.ts';
import { commandWord } from '../terminal/command-word.ts';
import { wrapIntoRows } from '../terminal/rows.ts';
import { paintDiff } from '../terminal/paint.ts';

interface EditOptions {
  yes?: boolean;
  reason?: string;
  /** The file that contains the edited text (`-` is stdin). Absent if the person edits in an editor. */
  file?: string;
}

export async function editCommand(
  run: CommandRun<EditOptions>,
  what: string,
  call: string | undefined,
): Promise<number> {
  const { options, terminal } = run;
  const context = await run.openSessions();
  const {
    session,
    actions: [action],
    seen,
  } = await resolveActions(context.sessions, { what, call }, false);
  if (action === undefined)
    throw new ProductError('UNKNOWN_CALL', 'No action waits: there is nothing to edit.');
  const { shown } = action;
  // An edit is an approval. If this person cannot approve the action here, the command refuses before the editor opens.
  const barred = decisionElsewhereError(action, 'edit');
  if (barred !== undefined) throw barred;
  const file = options.file === undefined ? '<path>' : quote([options.file]);
  const commandWithoutQuestion = `edit ${commandWord(shown)} --file ${file} --yes`;
  const asking = { yes: seen && options.yes === true, commandWithoutQuestion };
  const editable = editableTextOf(action);
  terminal.say(`${actionText(action, terminal)}\n`);
  // Without a terminal or `--yes`, the command cannot ask for confirmation. It throws before the editor opens, so that
  // no edit is lost.
  requireInteractiveTerminal(terminal, asking);
  if (!terminal.interactive && options.file === undefined && !hasOwnEditor(run.env))
    throw new UsageError(
      `There is no terminal for the editor, so nothing was decided. Write the text to a file: mcp-a2a-bridge ${commandWithoutQuestion}`,
    );
  const edited = await editedText(run, editable);
  try {
    const code = await sendEdit(run, { session, action, editable, asking }, edited.text);
    await edited.remove?.();
    if (code === 0) await context.close();
    return code;
  } catch (error) {
    // The edit may fail, e.g. because the file has changed meanwhile. So that the person's work is not lost, the text
    // stays in a file, and the person learns where.
    if (edited.file !== undefined)
      terminal.warn(
        `Your text is in ${edited.file}. To use it: mcp-a2a-bridge edit <code> --file ${quote([edited.file])}`,
      );
    throw error;
  }
}

interface EditTarget {
  session: Session;
  action: PendingAction;
  editable: EditableText;
  asking: Parameters<typeof askToConfirm>[1];
}

/** Shows the change, asks for confirmation, and sends the decision. Returns the exit code. */
async function sendEdit(
  run: CommandRun<EditOptions>,
  { session, action: { callId, shown }, editable, asking }: EditTarget,
  changed: string,
): Promise<number> {
  const { options, terminal } = run;
  if (changed === editable.text) {
    terminal.warn(
      `Nothing was changed, so nothing was decided. To run it as it is: mcp-a2a-bridge approve ${commandWord(shown)}`,
    );
    return EXIT_FAILURE;
  }
  const decision = editable.decision(changed);
  const diff = unifiedDiffOfTexts({ from: 'proposed', to: 'edited' }, editable.text, changed);
  const rows = paintDiff(quotedText(diff.replace(/\n$/, '')).text, terminal.paint, (line) =>
    wrapIntoRows(line, terminal.width),
  );
  terminal.say(terminal.width === undefined ? rows : withDirectionMarks(rows));
  if (!(await askToConfirm(terminal, asking, 'Approve it with this change?'))) {
    terminal.say('Nothing was decided.');
    return EXIT_FAILURE;
  }
  const { reason } = options;
  const edited = toPersonDecision({ callId, shown, decision: 'edit', ...decision, reason });
  await sendDecisionsFromTerminal(session, [edited], terminal);
  printDecisionOutcome(terminal, session, [{ callId, decision: 'edit' }]);
  return 0;
}

async function editedText(
  { options, env }: CommandRun<EditOptions>,
  { text, extension }: EditableText,
): Promise<Pick<EditedFile, 'text'> & Partial<EditedFile>> {
  const { file } = options;
  if (file === undefined) return editInEditor({ text, extension, env });
  try {
    return { text: file === '-' ? await readText(process.stdin) : await readFile(file, 'utf8') };
  } catch (error) {
    throw new UsageError(
      `The edited text cannot be read from ${file}: ${fileProblem(error)}. Nothing was decided.`,
    );
  }
}
