/** The messages of a client, as the task service gets them. */
import type { ClientMessage } from '../../a2a-server/executor/messages/client-message.ts';
import { pendingActions } from '../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../a2a-server/task/snapshot.ts';
import { TOOL_APPROVAL_EXTENSION, type Decision } from '../../shared/protocol/tool-approval.ts';

export const ADA = 'ada';

let messages = 0;

/** A message from ada with a new id. */
export function messageOf(text: string, more: Partial<ClientMessage> = {}): ClientMessage {
  messages += 1;
  return {
    principal: ADA,
    channel: 'test',
    message: { messageId: `message-${messages}`, parts: [{ type: 'text', text }] },
    bodyHash: `hash-${messages}`,
    settings: {},
    wordsDecide: false,
    ...more,
  };
}

/** A message that runs a command of the server. */
export function commandMessage(
  command: string,
  args: string[],
  more: Partial<ClientMessage> = {},
): ClientMessage {
  const sent = messageOf('', more);
  return { ...sent, message: { ...sent.message, command: { command, args } } };
}

export type SomeDecision = Partial<Decision> & Pick<Decision, 'decision'>;

/**
 * Decisions from ada. Each carries the `shown` code of the snapshot that she saw. Without a `callId`, it is about the
 * first call that waits.
 */
export function decisionMessage(saw: Snapshot, ...decisions: SomeDecision[]) {
  const pending = pendingActions(saw);
  return messageOf('', {
    taskId: saw.taskId,
    decisions: {
      extension: TOOL_APPROVAL_EXTENSION,
      decisions: decisions.map(({ callId = pendingCall(saw), ...decision }) => ({
        callId,
        scope: 'once' as const,
        shown: pending.find((action) => action.callId === callId)?.shown ?? 'not shown',
        ...decision,
      })),
    },
  });
}

/** Returns the id of the first call that waits for a decision. */
export function pendingCall({ status }: Snapshot): string {
  const callId = status.state === 'input-required' ? status.pending[0]?.callId : undefined;
  if (callId === undefined) throw new Error(`nothing is pending, the task is ${status.state}`);
  return callId;
}
