/**
 * Accepts messages and decisions. E3: an accepted command is never lost. So `send` resolves only after the command is
 * durable. Then the executor runs the task.
 */
import type { DecisionStatement } from '../../../shared/presence/presence-proof.ts';
import type { Decision } from '../../../shared/protocol/tool-approval.ts';
import { isLimitRefusal, ProductError } from '../../../shared/runtime/errors.ts';
import type { Requester } from '../../access/requester.ts';
import type { TaskRow } from '../../journal/journal.ts';
import { dailyLimitError } from '../../limits/daily-writing.ts';
import { acceptRepeated, type AcceptedMessage } from './accepted-message.ts';
import { isDecisionOrRevocation, type ClientMessage } from './client-message.ts';
import { commandTask } from './command-task.ts';
import { findReachedDailyWritingLimit } from './find-reached-daily-writing-limit.ts';
import { presenceStatement } from './judge-decisions.ts';
import type { MessageContext } from './message-context.ts';
import { findMessageTarget } from './message-target.ts';
import { startTask } from './start-task.ts';

export interface MessageReceiver {
  /**
   * Accepts a message or a decision, or starts a task. E3: resolves only when the command is durable.
   * @throws ProductError
   */
  send(incoming: ClientMessage): Promise<AcceptedMessage>;
  /**
   * Returns the session and the task that would get this message. The task is absent if the message would start one.
   * Changes nothing.
   * @throws ProductError UNKNOWN_TASK, UNKNOWN_SESSION, and others that `send` throws
   */
  recipient(incoming: ClientMessage): Promise<{ sessionId: string; taskId?: string }>;
  /**
   * Returns the statement that a passkey must sign for this decision. Changes nothing, except that it asks the person
   * again if the files of the tool call have changed.
   * @throws ProductError with the refusal that the decision itself would get
   */
  presenceStatement(taskId: string, by: Requester, decision: Decision): Promise<DecisionStatement>;
}

export function createMessageReceiver(context: MessageContext): MessageReceiver {
  const { journal } = context;
  return {
    async send(incoming) {
      for (;;) {
        const known = await journal.command(incoming.principal, incoming.message.messageId);
        if (known) return acceptRepeated(known, incoming, journal);
        const target = await findMessageTarget(incoming, context);
        try {
          return await (target.type === 'live'
            ? commandTask(target.taskId, incoming, context)
            : startWithinLimits(target, incoming, context));
        } catch (error) {
          if (!(await isOvertaken(incoming, error, journal))) throw error;
        }
      }
    },
    async recipient(incoming) {
      const known = await journal.command(incoming.principal, incoming.message.messageId);
      if (known) return { sessionId: known.sessionId, taskId: known.taskId };
      const target = await findMessageTarget(incoming, context);
      const { sessionId } = target;
      return target.type === 'live' ? { sessionId, taskId: target.taskId } : { sessionId };
    },
    presenceStatement: (taskId, by, decision) => presenceStatement({ taskId, by, decision }, context),
  };
}

/**
 * True if a concurrent command caused the refusal, so that the message must be processed again. Either the same message
 * arrived twice, or the session's task ended first.
 */
async function isOvertaken(
  incoming: ClientMessage,
  error: unknown,
  journal: MessageContext['journal'],
): Promise<boolean> {
  if (!(error instanceof ProductError)) return false;
  const next = incoming.taskId === undefined && !isDecisionOrRevocation(incoming);
  if (next && error.reason === 'TASK_ENDED') return true;
  // A refusal by a limit is final here, although the first copy of the message may have been accepted since. The client
  // sends the message again, and the server then finds that copy.
  if (isLimitRefusal(error)) return false;
  return (await journal.command(incoming.principal, incoming.message.messageId)) !== undefined;
}

/** Starts a task, unless the sender has reached a limit. The limits are checked before any other work. */
async function startWithinLimits(
  target: { sessionId: string; previous?: TaskRow },
  incoming: ClientMessage,
  context: MessageContext,
): Promise<AcceptedMessage> {
  // This check needs no query. So a server with too much work refuses at little cost.
  const release = await context.executor.reserve(incoming.principal);
  try {
    const over = isDecisionOrRevocation(incoming)
      ? undefined
      : await findReachedDailyWritingLimit(incoming.principal, context);
    if (over === undefined) return await startTask(target, incoming, context);
    context.onRefused(over.name, over.scope);
    throw dailyLimitError(over, context.clock.now());
  } finally {
    release();
  }
}
