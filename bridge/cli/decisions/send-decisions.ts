import { ProductError } from '../../../shared/runtime/errors.ts';
import { sendDecisions as send } from '../../approvals/send-decisions.ts';
import type { PersonDecision } from '../../dialects/dialect.ts';
import type { Session } from '../../sessions/session/session.ts';
import { waitForSession } from '../../sessions/wait-for-session.ts';

/**
 * The maximum time that the command waits for the task, in milliseconds: one day. The person can end the wait earlier
 * with Ctrl-C.
 */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

/**
 * Sends decisions. Resolves when the agent has received them. An agent without resumable streams may stop its work when
 * the connection closes. For such an agent, the command waits until the task waits or has ended.
 * @throws ProductError if the agent refuses a decision. The error names the earlier decision, if there is one.
 */
export async function sendDecisionsFromTerminal(
  session: Session,
  decisions: readonly PersonDecision[],
): Promise<void> {
  await send(session, decisions, 'cli');
  const { deduplicates } = await session.agent.connect();
  if (deduplicates) return;
  const end = await waitForSession({ session, timeout: MAX_WAIT_MS });
  if (end === 'trouble' && session.trouble !== undefined) throw sentButUnknownStateError(session.trouble);
}

function sentButUnknownStateError({ reason, message, facts }: ProductError): ProductError {
  return new ProductError(reason, `The agent has the decision. Its state since is unknown: ${message}`, {
    facts,
  });
}
