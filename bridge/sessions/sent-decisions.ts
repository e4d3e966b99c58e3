/**
 * Decisions that have left, for agents that run a call once for each approval of it: of one call, as it was shown, only one
 * leaves (E2). A call that is asked again with something else is another.
 */
import { ProductError } from '../../shared/errors.ts';

export interface DecidedCall {
  callId: string;
  /** Of what waits for a decision now; undefined when the call waits no more. */
  inputHash: string | undefined;
}

export class SentDecisions {
  /** By call: the message that decides it, and what was decided on. */
  readonly #sent = new Map<string, { messageId: string; inputHash: string | undefined }>();
  /** Messages of which nobody knows whether they arrived. */
  readonly #lost = new Set<string>();

  /** The same message may leave again where that is safe; another may not. @throws ProductError ALREADY_DECIDED */
  claim(messageId: string, calls: readonly DecidedCall[]): void {
    for (const { callId, inputHash } of calls) {
      const before = this.#sent.get(callId);
      if (before?.messageId === messageId) continue;
      if (inputHash !== undefined && before?.inputHash !== inputHash) continue;
      const known =
        before !== undefined && this.#lost.has(before.messageId)
          ? 'whether it arrived is not known'
          : 'the agent has it, or it is on its way';
      throw new ProductError(
        'ALREADY_DECIDED',
        `A decision on ${callId} has been sent before: ${known}. This agent would run the call again for a second one, so nothing was sent. Look with wait_for_task.`,
        { facts: { callId } },
      );
    }
    for (const { callId, inputHash } of calls)
      if (this.#sent.get(callId)?.messageId !== messageId) this.#sent.set(callId, { messageId, inputHash });
  }

  /** The message came to nothing. `arrived`: whether that is known for sure. */
  failed(messageId: string, arrived: 'no' | 'unknown'): void {
    if (arrived === 'unknown') this.#lost.add(messageId);
    else this.#forget(messageId);
  }

  /** The agent has been asked how things stand: what it says still waits may be decided after all. */
  looked(): void {
    for (const messageId of this.#lost) this.#forget(messageId);
    this.#lost.clear();
  }

  #forget(messageId: string): void {
    for (const [callId, sent] of this.#sent) if (sent.messageId === messageId) this.#sent.delete(callId);
  }
}
