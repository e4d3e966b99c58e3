/**
 * Records the tool calls that delegate work and whose client has not confirmed the reply. A cancelled tool call is
 * removed.
 */
import { onAbort } from '../../shared/runtime/abort.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Outbox } from '../state/outbox.ts';
import type { OnReplyConfirmed } from './replies-not-confirmed-by-client.ts';

const NOT_WITHDRAWN = new AbortController().signal;

interface WaitingCallsParts {
  outbox: Pick<Outbox, 'inOneCommit' | 'update'>;
  log: Logger;
}

export class WaitingMcpCalls {
  readonly #parts: WaitingCallsParts;
  /** The waiting tool calls, by message id. The signal aborts when the client cancels the tool call. */
  readonly #calls = new Map<string, AbortSignal>();

  constructor(parts: WaitingCallsParts) {
    this.#parts = parts;
  }

  /** Records that a tool call sends this message. Its signal is not known yet. `recordWaitingCall` adds it. */
  begin(messageId: string): void {
    this.#calls.set(messageId, NOT_WITHDRAWN);
  }

  /**
   * Records that a tool call waits for the outcome of this message.
   * @param call the signal of the tool call
   * @returns a function that records on disk that the client has received the reply. It does nothing if the tool call
   * was cancelled.
   */
  recordWaitingCall(messageId: string, call: AbortSignal): OnReplyConfirmed {
    this.#calls.set(messageId, call);
    onAbort(call, () => this.end(messageId, call));
    return () => {
      if (this.#calls.get(messageId) === call) this.recordReplyReceived(messageId);
    };
  }

  /** Records on disk that the client, or the person at the command line, has received the reply to this message. */
  recordReplyReceived(messageId: string): void {
    const call = this.#calls.get(messageId);
    const { outbox, log } = this.#parts;
    outbox
      .inOneCommit(() => outbox.update(messageId, { answered: true }))
      .then(
        () => call !== undefined && this.end(messageId, call),
        (error: unknown) =>
          log.warn({ messageId, err: error }, 'the bridge could not record that a client received a reply'),
      );
  }

  isWaiting(messageId: string): boolean {
    return this.#calls.has(messageId);
  }

  /**
   * Records that no tool call waits for the message any more.
   * @param call the signal of the tool call to remove. Nothing happens if another tool call waits for the message now.
   */
  end(messageId: string, call = this.#calls.get(messageId)): void {
    if (this.#calls.get(messageId) === call) this.#calls.delete(messageId);
  }
}
