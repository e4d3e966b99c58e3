/** Stores the messages that this process is sending, until their outbox entries are updated. */
import type { OutboxEntry } from '../state/outbox-entry.ts';
import type { Session } from './session/session.ts';

export interface MessageInFlight {
  readonly messageId: string;
  readonly session: Session;
  /**
   * `this-bridge`: the first series of attempts. `ended-bridge`: this bridge has taken over the message from a bridge
   * that has ended, or has postponed it before. An earlier attempt may have delivered it.
   */
  readonly origin: 'this-bridge' | 'ended-bridge';
  /** True until the agent confirms the message. */
  unconfirmed: boolean;
  /** True if a client received the reply "not delivered". The bridge must then store the final outcome. */
  promised: boolean;
  /** The reason of a cancel that came before the agent sent the task id. Null if there was none. */
  cancel: string | null;
  readonly withdraw: AbortController;
  /**
   * Resolves when the agent has the message. For the origin `ended-bridge`, the outbox entry of the message is updated
   * then too.
   */
  finished: Promise<void>;
}

export class MessagesInFlight {
  readonly #messages = new Map<string, MessageInFlight>();

  has(messageId: string): boolean {
    return this.#messages.has(messageId);
  }

  get(messageId: string): MessageInFlight | undefined {
    return this.#messages.get(messageId);
  }

  of(session: Session): readonly MessageInFlight[] {
    return [...this.#messages.values()].filter((message) => message.session === session);
  }

  /**
   * The messages that this process has taken over from bridges that have ended, or sends again after it postponed them.
   */
  get orphaned(): readonly MessageInFlight[] {
    return [...this.#messages.values()].filter(({ origin }) => origin === 'ended-bridge');
  }

  add(
    session: Session,
    { messageId, cancel }: OutboxEntry,
    origin: MessageInFlight['origin'],
  ): MessageInFlight {
    const message: MessageInFlight = {
      messageId,
      session,
      origin,
      unconfirmed: true,
      // The client may know the id of the message from an earlier reply. So the outcome must be stored.
      promised: origin === 'ended-bridge',
      cancel,
      withdraw: new AbortController(),
      finished: Promise.resolve(),
    };
    this.#messages.set(messageId, message);
    return message;
  }

  /** Removes the message. Does nothing if another attempt has replaced it. */
  remove(message: MessageInFlight): void {
    if (this.#messages.get(message.messageId) === message) this.#messages.delete(message.messageId);
  }
}
