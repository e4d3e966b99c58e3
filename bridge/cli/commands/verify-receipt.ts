/**
 * The command `verify-receipt`: checks that a receipt is unchanged, that its passkey proofs are valid, and that a known
 * server signed it. Also compares the receipt with the server's journal. Fails if a check fails or if the journal
 * differs.
 */
import { readFile } from 'node:fs/promises';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { fileProblem } from '../../../shared/runtime/file-problem.ts';
import { checkSealedReceipt, type CheckedReceipt } from '../../../shared/receipt/seal.ts';
import { checkPresenceProofs, type ProvenPresence } from '../../../shared/receipt/receipt-presence.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { Agent } from '../../agents/agent.ts';
import { askEachAgent } from '../../agents/ask-each.ts';
import type { CommandRun } from '../context/run-command.ts';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { noAnswerText } from '../terminal/terminal-words.ts';

interface VerifyOptions {
  key?: string;
}

/**
 * The result of the comparison with the journal. `not-compared`: no known agent has the key, or the agent no longer has
 * the task.
 */
type JournalCheck = 'same' | 'differs' | 'not-compared';

/**
 * Checks a receipt, and prints the result.
 * @throws UsageError if the file cannot be read; ProductError MALFORMED if it is not a receipt, or has changed
 */
export async function verifyReceiptCommand(run: CommandRun<VerifyOptions>, file: string): Promise<number> {
  const { options, terminal } = run;
  const { proofs, ...receipt } = checkSealedReceipt(await textOf(file));
  const presence = await checkPresenceProofs(receipt.taskId, proofs);
  if (options.key !== undefined && options.key !== receipt.fingerprint)
    throw new ProductError(
      'MALFORMED',
      `The receipt is unchanged, but ${receipt.fingerprint} signed it, not ${options.key}.`,
    );
  const context = await run.openSessions();
  const { answers, unreachable } = await askEachAgent(context.registry.all, (agent) =>
    agent.ask((connection) => connection.receiptKey()),
  );
  const signer = context.registry.all.find(({ name }) => answers.get(name) === receipt.fingerprint);
  const journal = signer === undefined ? 'not-compared' : await compareWithJournal(signer, receipt);
  const known = signer !== undefined || options.key !== undefined;
  const valid = known && journal !== 'differs';
  terminal.json({ valid, agent: signer?.name ?? null, comparison: journal, ...receipt, presence });
  terminal.explain(unchangedText(receipt));
  for (const each of presence) terminal.explain(presenceText(each));
  if (signer !== undefined) terminal.explain(`This is the key of agent "${signer.name}".`);
  if (!known)
    terminal.complain(
      'No agent of your settings has this key, so anyone may have signed the receipt. Ask the owner of the server for the fingerprint, and give it with --key.',
    );
  for (const each of unreachable) terminal.complain(noAnswerText(each));
  const compared = JOURNAL_TEXT[journal](receipt);
  if (journal === 'differs') terminal.complain(compared);
  else terminal.explain(compared);
  return valid ? 0 : EXIT_FAILURE;
}

export function unchangedText({
  taskId,
  fingerprint,
}: Pick<CheckedReceipt, 'taskId' | 'fingerprint'>): string {
  return `The receipt of task ${visibleLine(taskId)} is unchanged. ${fingerprint} signed it.`;
}

export function presenceText({
  callId,
  decision,
  passkey,
  fingerprint,
  rpId,
  registeredAt,
}: ProvenPresence): string {
  return `A person with the passkey "${visibleLine(passkey)}" (${fingerprint}, registered ${visibleLine(registeredAt)}) signed the decision "${decision}" on call ${visibleLine(callId)} at ${visibleLine(rpId)}.`;
}

type ComparedReceipt = Omit<CheckedReceipt, 'proofs'>;

const JOURNAL_TEXT: Readonly<Record<JournalCheck, (receipt: ComparedReceipt) => string>> = {
  same: ({ journal }) => `The journal still contains the same ${journal.events} events.`,
  differs: ({ journal }) =>
    `The journal does NOT contain the ${journal.events} events of the receipt: it was changed or replaced.`,
  'not-compared': () => 'The receipt was not compared with a journal.',
};

/** Requests a receipt over the same number of events, and compares the hashes of the two event chains. */
async function compareWithJournal(agent: Agent, { taskId, journal }: ComparedReceipt): Promise<JournalCheck> {
  let again;
  try {
    again = await agent.ask((connection) => connection.receipt(taskId, 'application/json', journal.events));
  } catch (error) {
    // This error means that the journal has fewer events than the receipt.
    if (error instanceof ProductError && error.reason === 'INVALID_CURSOR') return 'differs';
    throw error;
  }
  if (again === null) return 'not-compared';
  return checkSealedReceipt(again).journal.hash === journal.hash ? 'same' : 'differs';
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${fileProblem(error)}.`);
  }
}
