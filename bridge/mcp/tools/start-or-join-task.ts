/**
 * Starts the task of a tool call. If an identical tool call has already started a task, joins that task
 * (`repeated-delegation.ts`).
 */
import type { Agent } from '../../agents/agent.ts';
import { acceptedHandle, type DelegatedWork } from '../../state/outbox-entry.ts';
import { isRecentDelegation } from '../../sessions/repeated-delegation.ts';
import type { SessionResult } from '../reports/session-result.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { WaitOptions } from '../../sessions/wait-for-session.ts';
import { hasEnded } from '../../sessions/session/observed-task.ts';
import { awaitSession } from './await-session.ts';
import type { ToolCallContext } from '../tool/tool.ts';
import type { ToolAnswer } from '../tool/tool-result.ts';

export interface StartedTask {
  session: Session;
  delivery?: Promise<void> | undefined;
  notes: readonly string[];
  /** Explains when the agent reads the message. Shown after the message is delivered. */
  acknowledgement?: string | undefined;
}

const JOINED =
  'An identical call began this task, and the bridge does not know whether its client got the answer. Nothing was sent again. To start the work a second time, repeat the call.';

interface StartedWork extends DelegatedWork {
  agent: Agent;
  going?: Session | undefined;
}

/**
 * Returns the task of an earlier identical tool call, if its client might not have received the reply. Otherwise
 * returns undefined.
 * @throws ProductError
 */
export async function joinIdenticalTask(
  call: ToolCallContext,
  beginning: StartedWork,
): Promise<StartedTask | undefined> {
  const { delegations, sessions, clientTasks } = call.bridge;
  const { agent, going, ...work } = beginning;
  const asked = { agent: agent.name, ...work, sessionId: going?.id ?? null };
  const entry = await delegations.findUnanswered(asked);
  if (entry === undefined) return undefined;
  const { messageId, state } = entry;
  const handle = state.type === 'accepted' ? acceptedHandle(state) : messageId;
  const session = going ?? (await sessions.find(handle, { agent: agent.name, signal: call.signal }));
  const { view } = session;
  if (view !== undefined && hasEnded(view)) {
    const other = state.type === 'accepted' && view.taskId !== state.taskId;
    if (other || view.state === 'canceled' || !isRecentDelegation(entry, Date.now())) return undefined;
  }
  call.onConfirmed(delegations.recordWaitingCall(messageId, call.signal));
  clientTasks.joined(call.connection, session);
  await session.refresh();
  return { session, notes: [JOINED] };
}

/**
 * Sends the message of a tool call.
 * @throws ProductError; Error if the tool call is cancelled
 */
export async function startTask(call: ToolCallContext, beginning: StartedWork): Promise<StartedTask> {
  const { delegations, clientTasks } = call.bridge;
  const { agent, going, ...work } = beginning;
  call.beforeSending();
  const { session, delivery, messageId } =
    going === undefined
      ? await delegations.start(agent, work)
      : await delegations.continueSession(going, work, () => call.beforeSending());
  clientTasks.delegated(call.connection, session, messageId);
  call.onConfirmed(delegations.recordWaitingCall(messageId, call.signal));
  return { session, delivery, notes: [] };
}

/**
 * Waits for the outcome until the time limit of the tool call.
 * @param atLeast a state to wait for even after the time limit; see `WaitOptions`
 */
export async function awaitStartedTask(
  call: ToolCallContext,
  { session, delivery, notes, acknowledgement }: StartedTask,
  { waitSeconds, atLeast }: { waitSeconds: number | undefined; atLeast?: WaitOptions['atLeast'] | undefined },
): Promise<ToolAnswer<SessionResult>> {
  call.awaits({ session, delivery });
  let delivered = false;
  void delivery?.then(
    () => (delivered = true),
    () => undefined,
  );
  return awaitSession(call, {
    session,
    delivery,
    timeout: call.waitMs(waitSeconds),
    atLeast,
    notes: () => (delivered && acknowledgement !== undefined ? [...notes, acknowledgement] : notes),
    outcome: true,
  });
}
