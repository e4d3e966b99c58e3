/** The command `receipt`: prints the signed receipts of a session, or writes them into files. */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { newFileProblem } from '../../../shared/runtime/file-problem.ts';
import { makeDirectoryWithParents } from '../../../shared/state/make-directory-with-parents.ts';
import type { ReceiptMediaType } from '../../agents/a2a-server-requests.ts';
import type { Agent } from '../../agents/agent.ts';
import type { CommandRun } from '../context/run-command.ts';
import { escapeHiddenInLines } from '../terminal/terminal.ts';
import { wrapIntoRows } from '../terminal/rows.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { resolveSession } from '../decisions/resolve-id.ts';

interface ReceiptOptions {
  out?: string;
}

const FORMATS = { md: 'text/markdown', json: 'application/json' } as const;

/**
 * Prints the signed receipt of a session's newest task, or writes the receipts of all its tasks into files.
 * @param given the id of a session or a task, or a unique prefix of it
 * @throws ProductError UNKNOWN_SESSION, AGENT_ERROR
 */
export async function receiptCommand(run: CommandRun<ReceiptOptions>, given: string): Promise<void> {
  const { options, terminal } = run;
  const context = await run.openSessions();
  const { id, agent } = await resolveSession(context.sessions, given);
  const listed = await agent.ask((connection) => connection.list({ sessionId: id }));
  const taskIds = (listed?.tasks ?? []).map((task) => task.id);
  if (options.out === undefined) {
    const [newest] = taskIds;
    if (newest === undefined) throw noReceiptError(agent);
    const whole = await receiptOf(agent, newest, FORMATS[terminal.printsJson ? 'json' : 'md']);
    // The last line feed of the document is removed, because the terminal adds one.
    const document = whole.replace(/\n$/, '');
    terminal.json(document);
    terminal.say(shownReceipt(document, terminal.width));
    if (taskIds.length > 1)
      terminal.warn(
        `This is the newest of ${taskIds.length} tasks of the session. --out <directory> writes the receipts of all.`,
      );
  } else {
    if (taskIds.length === 0) throw noReceiptError(agent);
    const files: { taskId: string; path: string }[] = [];
    for (const taskId of taskIds)
      for (const [extension, format] of Object.entries(FORMATS)) {
        const path = join(options.out, `receipt-${fileNameOf(taskId)}.${extension}`);
        await writeReceipt(path, await receiptOf(agent, taskId, format));
        files.push({ taskId, path });
        terminal.say(path);
      }
    terminal.json({ sessionId: id, files });
  }
}

/**
 * Returns the document as a terminal shows it. D5: the document quotes an agent, so a row that continues a line is
 * marked. The signature covers the bytes of the document, so a file or a pipe gets them unchanged.
 * @param width the width of the terminal; undefined if stdout is not a terminal
 */
export function shownReceipt(document: string, width: number | undefined): string {
  return width === undefined ? document : wrapIntoRows(escapeHiddenInLines(document), width);
}

/** Writes a receipt, and makes its directory. @throws UsageError if the file cannot be written */
export async function writeReceipt(path: string, document: string): Promise<void> {
  const directory = dirname(path);
  try {
    await makeDirectoryWithParents(directory);
    await writeFile(path, document);
  } catch (error) {
    throw new UsageError(
      `The receipts cannot be written to ${directory}: ${newFileProblem(error)}. Name another directory with --out.`,
    );
  }
}

async function receiptOf(agent: Agent, taskId: string, format: ReceiptMediaType): Promise<string> {
  const document = await agent.ask((connection) => connection.receipt(taskId, format));
  if (document === null) throw noReceiptError(agent);
  return document;
}

/** Returns a file name for a task id. The agent chooses the id, so it may contain any character. */
function fileNameOf(taskId: string): string {
  return taskId.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 100);
}

function noReceiptError(agent: Agent): ProductError {
  return new ProductError('AGENT_ERROR', `Agent "${agent.name}" makes no receipt of this session.`);
}
