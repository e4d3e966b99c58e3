/** Records delegating calls whose client has not confirmed the reply. A cancelled call is removed. */
import { onAbort } from '../../shared/runtime/abort.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Outbox } from '../state/outbox.ts';
import type { OnConfirmed } from './replies-not-confirmed-by-client.ts';

const NOT_WITHDRAWN = new AbortController().signal;

interface WaitingCallsParts {
  outbox: Pick<Outbox, 'together' | 'update'>;
  log: Logger;
}

export class WaitingCalls {
  readonly #parts: WaitingCallsParts;
  /** By message id. The signal aborts when the client cancels the call. */
  readonly #calls = new Map<string, AbortSignal>();

  constructor(parts: WaitingCallsParts) {
    this.#parts = parts;
  }

  /** Records that a call sends this message. It counts as waiting until `asks` provides its signal. */
  begin(messageId: string): void {
    this.#calls.set(messageId, NOT_WITHDRAWN);
  }

  /**
   * Records that the call waits for the outcome of this message.
   * @returns a function that records on disk that the client has the reply. It does nothing for a cancelled call.
   */
  asks(messageId: string, call: AbortSignal): OnConfirmed {
    this.#calls.set(messageId, call);
    onAbort(call, () => this.end(messageId, call));
    return () => {
      if (this.#calls.get(messageId) !== call) return;
      const { outbox, log } = this.#parts;
      outbox
        .together(() => outbox.update(messageId, { answered: true }))
        .then(
          () => this.end(messageId, call),
          (error: unknown) => log.warn({ messageId, err: error }, 'a receipt could not be recorded'),
        );
    };
  }

  isWaiting(messageId: string): boolean {
    return this.#calls.has(messageId);
  }

  /**
   * Records that no call waits for the message any more.
   * @param call the call to remove; ignored if another call now waits for the message
   */
  end(messageId: string, call = this.#calls.get(messageId)): void {
    if (this.#calls.get(messageId) === call) this.#calls.delete(messageId);
  }
}
