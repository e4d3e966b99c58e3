/** The messages that this process sends, until their outbox entries are up to date. */
import type { OutboxEntry } from '../state/outbox-entry.ts';
import type { Session } from './session.ts';

export interface OutgoingMessage {
  session: Session;
  /** The agent has not confirmed the message. */
  unconfirmed: boolean;
  /** A client got the answer "not delivered". So the bridge must keep the outcome for it. */
  promised: boolean;
  /** The reason of a cancel that came before the agent named the task. */
  cancel: string | null;
  readonly withdraw: AbortController;
  /** Resolves when the agent has the message. */
  delivery?: Promise<void>;
  /** For a delegation of an ended bridge: resolves when this process has finished it. */
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

  /** Does nothing if another attempt has replaced the message. */
  remove(messageId: string, message: OutgoingMessage): void {
    if (this.#messages.get(messageId) === message) this.#messages.delete(messageId);
  }
}
