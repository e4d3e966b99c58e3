/**
 * The delegating calls that wait for their answer, or whose answer the client has not confirmed. When the client
 * withdraws a call, the call waits no more.
 */
import { onAbort } from '../../shared/runtime/abort.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Outbox } from '../state/outbox.ts';
import type { OnReceipt } from './unconfirmed-answers.ts';

const NOT_WITHDRAWN = new AbortController().signal;

interface WaitingCallsParts {
  outbox: Pick<Outbox, 'together' | 'update'>;
  log: Logger;
}

export class WaitingCalls {
  readonly #parts: WaitingCallsParts;
  /** By message id. The signal aborts when the client withdraws the call. */
  readonly #calls = new Map<string, AbortSignal>();

  constructor(parts: WaitingCallsParts) {
    this.#parts = parts;
  }

  /** A call sends this message. It counts as waiting until `asks` names its signal. */
  begin(messageId: string): void {
    this.#calls.set(messageId, NOT_WITHDRAWN);
  }

  /**
   * The call waits for the outcome of this message.
   * @returns a function that records durably that the client has the answer. It does nothing for a withdrawn call.
   */
  asks(messageId: string, call: AbortSignal): OnReceipt {
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

  /** @param call does nothing if another call waits for this message now */
  end(messageId: string, call = this.#calls.get(messageId)): void {
    if (this.#calls.get(messageId) === call) this.#calls.delete(messageId);
  }
}
