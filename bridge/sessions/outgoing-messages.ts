/** The messages that this process sends, until their outbox entries are up to date. */
import type { OutboxEntry } from '../state/outbox-entry.ts';
import type { Session } from './session.ts';

export interface OutgoingMessage {
  session: Session;
  /** The agent has not answered it. */
  unconfirmed: boolean;
  /** A client got an answer that says "not delivered", so the outcome must be kept for it. */
  promised: boolean;
  /** The reason of a cancel that came before the agent named the task. */
  cancel: string | null;
  readonly withdraw: AbortController;
  /** Resolves when the agent has the message. */
  delivery?: Promise<void>;
  /** For a delegation of an ended bridge: resolves when it is finished here. */
  done?: Promise<void>;
}

export class OutgoingMessages {
  /** By message id. */
  readonly #messages = new Map<string, OutgoingMessage>();

  get all(): readonly OutgoingMessage[] {
    return [...this.#messages.values()];
  }

  get(messageId: string): OutgoingMessage | undefined {
    return this.#messages.get(messageId);
  }

  /** The session's messages, each with its id. */
  of(session: Session): readonly (readonly [string, OutgoingMessage])[] {
    return [...this.#messages].filter(([, message]) => message.session === session);
  }

  add(
    session: Session,
    { messageId, cancel }: OutboxEntry,
    { promised }: { promised: boolean },
  ): OutgoingMessage {
    const message: OutgoingMessage = {
      session,
      unconfirmed: true,
      promised,
      cancel,
      withdraw: new AbortController(),
    };
    this.#messages.set(messageId, message);
    return message;
  }

  /** Does nothing if another attempt has added the message again. */
  remove(messageId: string, message: OutgoingMessage): void {
    if (this.#messages.get(messageId) === message) this.#messages.delete(messageId);
  }
}
