/**
 * Cancels the task of a session, and its messages that have no task yet. A message that cannot have arrived is
 * withdrawn. For any other message without a task, the cancel is recorded in the outbox.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import { cancelSessionTask, type CancelOutcome } from './cancel-task.ts';
import type { DeliveryParts } from './delivery-parts.ts';
import type { Session } from './session/session.ts';
import { hasEnded } from './session/observed-task.ts';

export class TaskCanceller {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /**
   * Cancels the session's task, and each of its messages that has no task yet.
   * @param signal aborts when the caller no longer waits for the end of the task
   * @throws ProductError if the agent cannot be reached
   */
  async cancel(session: Session, reason: string, signal?: AbortSignal): Promise<CancelOutcome> {
    const { channel, log } = this.#parts;
    const { agent, id: sessionId } = session;
    const end = await this.#cancel(session, reason, signal);
    const taskId = session.view?.taskId;
    log.info(
      { agent: agent.name, sessionId, taskId, channel, reason, end },
      'the outcome of a request to cancel a task',
    );
    return end;
  }

  /**
   * Cancels the task of this message. The cancel is in the outbox before this function first waits. If this process
   * ends, the next bridge sends the cancel. A later message to the task revokes the cancel. Resolves when the agent has
   * responded or is unreachable.
   * @throws ProductError STORAGE
   */
  async cancelMessage(session: Session, messageId: string, reason: string): Promise<void> {
    const { outgoing, outbox, writes, recorded } = this.#parts;
    const message = outgoing.get(messageId);
    this.#cancelOutgoing(session, reason);
    if (message !== undefined) message.cancel = reason;
    outbox.update(messageId, { cancel: reason });
    await writes.of(session);
    await recorded.send();
  }

  async #cancel(session: Session, reason: string, signal?: AbortSignal): Promise<CancelOutcome> {
    const { outgoing, channel } = this.#parts;
    const deliveries = outgoing
      .of(session)
      .filter(({ origin }) => origin === 'this-bridge')
      .map(({ finished }) => finished);
    const later = this.#cancelOutgoing(session, reason);
    if (later === 'withdrawn') {
      await Promise.allSettled(deliveries);
      return later;
    }
    if (later === 'may-have-arrived') return later;
    await session.refreshState();
    const { view, state } = session;
    if (state.type === 'unknown-to-agent') return 'unknown-to-agent';
    if (view === undefined || hasEnded(view)) return later ?? 'ended-before';
    return cancelSessionTask(session, view.taskId, { by: { reason, channel }, signal });
  }

  /**
   * Cancels the messages without a task. A message that cannot have arrived is withdrawn. For any other message, the
   * cancel is recorded. After the agent has sent the task id, any bridge may send this cancel.
   * @returns undefined if there is no such message
   */
  #cancelOutgoing(
    session: Session,
    reason: string,
  ): 'withdrawn' | 'cancelled-when-known' | 'may-have-arrived' | undefined {
    const { state } = session;
    const delivery = state.type === 'not-delivered' ? state.delivery : undefined;
    const known = (messageId: string): boolean =>
      messageId === session.firstMessageId && session.view !== undefined;
    const { outgoing, outbox } = this.#parts;
    const unnamed = outgoing
      .of(session)
      .filter(({ messageId, unconfirmed }) => unconfirmed && !known(messageId));
    if (unnamed.length === 0 && delivery?.type === 'given-up') {
      if (delivery.error.facts['arrived'] !== 'no') return 'may-have-arrived';
      outbox.drop(session.firstMessageId);
      return 'withdrawn';
    }
    const messageIds = [...unnamed.map(({ messageId }) => messageId), ...this.#postponedOf(session)];
    // The delivery of the message reads the cancel from memory. The outbox keeps the cancel until it is sent, so that
    // the next bridge can send it.
    for (const message of unnamed) message.cancel = reason;
    for (const messageId of messageIds) outbox.update(messageId, { cancel: reason });
    if (delivery?.type === 'retrying' && delivery.nextTry !== null && !delivery.mayHaveArrived) {
      for (const { withdraw } of unnamed) withdraw.abort(messageWithdrawnError(reason));
      if (session.view === undefined) return 'withdrawn';
    }
    return messageIds.length > 0 ? 'cancelled-when-known' : undefined;
  }

  /**
   * Returns the ids of the session's messages that wait for another series of attempts. They are only in the outbox.
   */
  #postponedOf({ id, firstMessageId, agent }: Session): readonly string[] {
    const { outgoing, outbox } = this.#parts;
    return outbox
      .sending()
      .filter((entry) => entry.agent === agent.name && !outgoing.has(entry.messageId))
      .filter(({ messageId, sessionId }) => messageId === firstMessageId || sessionId === id)
      .map(({ messageId }) => messageId);
  }
}

function messageWithdrawnError(reason: string): ProductError {
  return new ProductError('AGENT_UNREACHABLE', `It was withdrawn before the agent had it (${reason}).`, {
    facts: { arrived: 'no' },
  });
}
