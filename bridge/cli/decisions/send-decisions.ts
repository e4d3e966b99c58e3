import { ProductError } from '../../../shared/runtime/errors.ts';
import { sendDecisions as send } from '../../approvals/send-decisions.ts';
import type { PersonDecision } from '../../dialects/dialect.ts';
import { sentInTime } from '../../approvals/sent-in-time.ts';
import type { Session } from '../../sessions/session/session.ts';
import { waitForSession } from '../../sessions/wait-for-session.ts';
import { MAX_WAIT_MS } from '../context/command-sessions.ts';
import { inTerminalWords } from '../terminal/terminal-words.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** After this time without an answer, the command says why it waits, in milliseconds. */
const QUIET_MS = 3_000;

/**
 * Sends decisions. Resolves when the agent has received them. An agent without the extension for resumable streams may
 * stop its work when the connection closes. So for such an agent, resolves only when the task waits or has ended. If
 * sending takes longer than `QUIET_MS`, tells the person why.
 * @throws ProductError if the agent refuses a decision. The error names the earlier decision, if there is one.
 */
export async function sendDecisionsFromTerminal(
  session: Session,
  decisions: readonly PersonDecision[],
  terminal: Pick<Terminal, 'warn'>,
): Promise<void> {
  const sending = send(session, decisions, 'cli');
  const signal = new AbortController().signal;
  if ((await sentInTime(sending, { timeout: QUIET_MS, signal })) === 'unconfirmed') {
    const why = session.sendingProblem ?? `Agent "${session.agent.name}" has not answered.`;
    terminal.warn(`The decision is not sent yet: ${inTerminalWords(why)} The command tries again.`);
    await sending;
  }
  const { deduplicates } = await session.agent.connect();
  if (deduplicates) return;
  const end = await waitForSession({ session, timeout: MAX_WAIT_MS });
  if (end === 'stream-lost' && session.streamProblem !== undefined)
    throw sentButUnknownStateError(session.streamProblem);
}

function sentButUnknownStateError({ reason, message, facts }: ProductError): ProductError {
  return new ProductError(reason, `The agent has the decision. Its state since is unknown: ${message}`, {
    facts,
  });
}
