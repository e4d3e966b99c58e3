/**
 * Sends a person's decisions to the agent. Forms, the MCP tool, the webhook and the command line all use this function.
 */
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import type { MessageContent, PersonDecision } from '../dialects/dialect.ts';
import { deliverContent } from '../sessions/deliver-content.ts';
import type { Session } from '../sessions/session/session.ts';
import { waitForSession } from '../sessions/wait-for-session.ts';
import type { DecisionChannel } from '../settings/approval-mode.ts';

/**
 * The maximum time in milliseconds for which the bridge waits until the agent has completed its work. After that time,
 * the bridge does not send the text that follows a decision.
 */
const MAX_WAIT_FOR_TURN_END_MS = 60_000;
const NOT_SENT = 'Your change was not sent to the agent';

/**
 * Sends decisions. Resolves when the agent has received them. The agent records the channel with each decision.
 * @throws ProductError if the agent refuses a decision. D1: the first valid decision wins, and a later one gets an
 * error.
 */
export async function sendDecisions(
  session: Session,
  decisions: readonly PersonDecision[],
  channel: DecisionChannel,
): Promise<void> {
  // D2: another client may have answered the question meanwhile. An agent without the tool-approval extension does not
  // detect that, so the bridge reads the task first. If the agent cannot be reached, sending the message reports that.
  if (session.view?.seq === null) await session.refresh().catch(() => undefined);
  let phrase: MessageContent | undefined;
  await deliverContent(
    session,
    // D2: a message may be sent again much later, so each attempt checks what the agent asks then.
    (dialect) => (phrase = dialect.phraseDecisions(decisions, session.lastPendingInput, channel)),
    () => ({ answers: session.lastPendingInput.question?.id }),
  ).catch((error: unknown) => {
    session.reportDecisionsSent({ decisions, channel, problem: errorMessageOf(error) });
    throw error;
  });
  session.reportDecisionsSent({ decisions, channel });
  const { notes = [], afterwards } = phrase ?? {};
  session.leaveNotes(notes);
  if (afterwards !== undefined) await sendAfterTurn(session, afterwards);
}

/**
 * Sends a text that the agent cannot accept together with a decision, such as the person's edits. Waits until the agent
 * has completed its work on the task, for at most `MAX_WAIT_FOR_TURN_END_MS`. If the text cannot be sent, a note tells
 * the person, and contains the text. The decision stays valid.
 */
async function sendAfterTurn(session: Session, text: string): Promise<void> {
  const end = await waitForSession({ session, timeout: MAX_WAIT_FOR_TURN_END_MS });
  if (end !== 'settled' || session.view?.state !== 'completed')
    return session.leaveNotes([`${NOT_SENT}: its turn goes on. Send it once the turn has ended:\n${text}`]);
  try {
    await deliverContent(session, (dialect) => dialect.phraseTask(text, {}));
  } catch (error) {
    session.leaveNotes([`${NOT_SENT} (${errorMessageOf(error)}):\n${text}`]);
  }
}
