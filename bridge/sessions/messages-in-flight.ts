/** Stores the messages that this process sends, until their outbox entries are updated. */
import type { OutboxEntry } from '../state/outbox-entry.ts';
import type { Session } from './session.ts';

export interface MessageInFlight {
  readonly messageId: string;
  readonly session: Session;
  /** The bridge that wrote the outbox entry. An ended bridge may have delivered the message. */
  readonly origin: 'this-bridge' | 'ended-bridge';
  /** True until the agent confirms the message. */
  unconfirmed: boolean;
  /** True if a client got the reply "not delivered". The bridge must then store the outcome. */
  promised: boolean;
  /** The reason of a cancel that came before the agent named the task. */
  cancel: string | null;
  readonly withdraw: AbortController;
  /** Resolves when the agent has the message, and for an adopted message when its entry is updated too. */
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

  /** The messages that this process has adopted from ended bridges. */
  get adopted(): readonly MessageInFlight[] {
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
      // True for a message of an ended bridge, because the client of that bridge may know the message's id.
      promised: origin === 'ended-bridge',
      cancel,
      withdraw: new AbortController(),
      finished: Promise.resolve(),
    };
    this.#messages.set(messageId, message);
    return message;
  }

  /** Does nothing if another attempt has replaced the message. */
  remove(message: MessageInFlight): void {
    if (this.#messages.get(message.messageId) === message) this.#messages.delete(message.messageId);
  }
}
