/**
 * Delivers the message of an outbox entry, and updates the entry. B1: a delegation happens exactly once.
 *
 * `send` and `resume` end in one of three ways. The agent has sent the task id: `#recordAccepted`. The outcome is not final:
 * `#postpone`. The message is lost, withdrawn or refused: the entry is deleted, or records the failure.
 */
import type { Message } from '@a2a-js/sdk';
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { AgentCardFacts } from '../agents/card.ts';
import { runInTrace } from '../agents/http/current-trace.ts';
import { refuseUnsupportedFiles } from '../agents/input-modes.ts';
import { taskAsStreamResponse } from '../agents/task-as-stream-response.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { OutboxEntry } from '../state/outbox-entry.ts';
import { delegationMessage } from './delegation-message.ts';
import { failedDeliveryHandling } from './failed-delivery-handling.ts';
import { findTaskByMessage } from './session/find-lost-message.ts';
import type { DeliveryParts } from './delivery-parts.ts';
import type { MessageInFlight } from './messages-in-flight.ts';
import type { Session } from './session/session.ts';

interface MessageDeliveryParts extends DeliveryParts {
  /**
   * Called when an undelivered message stays in the outbox. The callback starts a timer, unless one already runs. After
   * at most `RESEND_AFTER_MS`, the timer calls `takeOverOrphaned`, which sends the message again.
   */
  onPostponed: () => void;
}

/** The delay in milliseconds before the bridge sends a message again that may have arrived. */
export const RESEND_AFTER_MS = 60_000;

export class MessageDelivery {
  readonly #parts: MessageDeliveryParts;

  constructor(parts: MessageDeliveryParts) {
    this.#parts = parts;
  }

  /**
   * Sends the message. Resolves when the agent has it.
   * @throws the error for the tool call that sends the message
   */
  async send(
    outgoing: MessageInFlight,
    entry: OutboxEntry,
    { answers, resumed = false }: { answers?: string | undefined; resumed?: boolean },
  ): Promise<void> {
    const { session, withdraw } = outgoing;
    const { outbox, writes } = this.#parts;
    const write = (dialect: Dialect, card: AgentCardFacts): Message => {
      const { files = [] } = entry;
      refuseUnsupportedFiles(files, card);
      return delegationMessage(
        entry,
        dialect,
        files.length === 0 ? undefined : outbox.contents(entry.messageId),
      );
    };
    try {
      await runInTrace(entry.trace, () =>
        session.deliver(write, {
          answers,
          resumed,
          withdrawal: { signal: withdraw.signal, wanted: () => outgoing.cancel === null },
        }),
      );
    } catch (error) {
      throw this.#recordFailed(outgoing, error);
    }
    this.#recordAccepted(outgoing);
    // The agent has the message now. So if the connection is lost here, the delivery has still succeeded.
    const connection = await session.agent.connect().catch(() => undefined);
    // An agent that does not recognize repeated messages may also be unable to list its tasks. So the task id must be
    // on disk before a client receives it.
    if (connection?.deduplicates !== true) await writes.of(session);
  }

  /**
   * Finishes a delivery that an ended bridge has begun, or that this bridge has postponed. If the agent recognizes
   * repeated messages, sends the message again. Otherwise searches for its task.
   */
  async resume(outgoing: MessageInFlight, entry: OutboxEntry): Promise<void> {
    const { session } = outgoing;
    try {
      const connection = await session.agent.connect();
      // A cancelled delegation is not sent again. The cancel may have come while the bridge connected.
      if (connection.deduplicates && outgoing.cancel === null)
        return await this.send(outgoing, entry, { resumed: true });
      const found = await findTaskByMessage(connection, delegationMessage(entry, connection.dialect));
      if (found !== undefined) {
        session.applyEvent(taskAsStreamResponse(found), connection);
        this.#recordAccepted(outgoing);
        session.follow();
        return;
      }
    } catch (error) {
      if (outgoing.unconfirmed) this.#postpone(outgoing, error);
      throw error;
    }
    this.#notFound(outgoing);
  }

  /**
   * Records that the agent has sent the task id. If a crash loses this write, the next bridge sends the message again,
   * or searches for the task.
   */
  #recordAccepted(outgoing: MessageInFlight): void {
    outgoing.unconfirmed = false;
    const { session, messageId } = outgoing;
    const { view, id } = session;
    if (view === undefined) return;
    const { taskId } = view;
    const { outbox, writes, recorded } = this.#parts;
    writes.begin(session, async () => {
      try {
        const state = { type: 'accepted' as const, taskId, sessionId: id };
        await outbox.inOneCommit(() => outbox.update(messageId, { state }));
      } finally {
        this.#parts.outgoing.remove(outgoing);
      }
      if (outgoing.cancel !== null) await recorded.send();
    });
  }

  /** Records a failed delivery. Returns the error for the tool call. */
  #recordFailed(outgoing: MessageInFlight, error: unknown): unknown {
    outgoing.unconfirmed = false;
    const { session, messageId, promised } = outgoing;
    const { outbox, live } = this.#parts;
    const outcome = failedDeliveryHandling(error, outgoing);
    if (outcome === 'postpone') return this.#postpone(outgoing, error);
    this.#parts.outgoing.remove(outgoing);
    if (outcome === 'drop') outbox.drop(messageId);
    else outbox.update(messageId, { state: { type: 'lost', message: errorMessageOf(error) } });
    if (session.view === undefined) live.remove(session);
    else if (promised) session.leaveNotes([`The last message was not delivered: ${errorMessageOf(error)}`]);
    return error;
  }

  /** Records that the agent has no task with this message. The message may be lost. */
  #notFound({ session, messageId, cancel }: MessageInFlight): void {
    const { outbox, live } = this.#parts;
    const message = `Whether agent "${session.agent.name}" got this is not known: the bridge ended while it was sent. Look at the agent before you delegate it again.`;
    if (cancel !== null) outbox.drop(messageId);
    else outbox.update(messageId, { state: { type: 'lost', message } });
    if (session.view === undefined) return live.remove(session);
    session.drop();
    if (cancel === null) session.leaveNotes([message]);
  }

  /**
   * Keeps the entry in the outbox. The bridge sends the message again later, or with the client's next tool call.
   * @returns the error for the tool call, which names the session and the next attempt
   */
  #postpone(outgoing: MessageInFlight, error: unknown): unknown {
    const { session, messageId } = outgoing;
    this.#parts.outgoing.remove(outgoing);
    this.#parts.calls.end(messageId);
    session.postpone(errorMessageOf(error), new Date(Date.now() + RESEND_AFTER_MS));
    this.#parts.onPostponed();
    return error instanceof ProductError ? messageKeptError(session, error) : error;
  }
}

/**
 * Returns the error for a tool call whose message stays in the outbox. A repeated tool call waits for the same message.
 */
function messageKeptError({ id }: Session, { reason, message, facts, cause }: ProductError): ProductError {
  const sentence = `${message} The bridge keeps the message and sends it again: wait_for_task with sessionId "${id}" waits for it. Repeating the same call is safe: nothing is sent twice.`;
  return new ProductError(reason, sentence, { facts: { ...facts, sessionId: id }, cause });
}
