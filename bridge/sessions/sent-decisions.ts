/**
 * Decisions that have left, for agents that run a call once for each approval of it: of one call, as it was shown, only one
 * leaves (E2), whoever sends it. A call that is asked again with something else is another.
 */
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { Asking, Claim, DecisionClaims } from '../state/decision-claims.ts';

export interface DecidedCall {
  callId: string;
  /** Of what waits for a decision now; undefined when the call waits no more. */
  shown: string | undefined;
}

export class SentDecisions {
  readonly #claims: DecisionClaims;
  /** By message: what it decides. */
  readonly #sent = new Map<string, readonly Asking[]>();
  /** Messages of which nobody knows whether they arrived. */
  readonly #lost = new Set<string>();
  /** The same of senders that have ended, and of those again the ones the agent has been looked at since. */
  readonly #left = new Set<string>();
  readonly #past = new Set<string>();

  constructor(claims: DecisionClaims) {
    this.#claims = claims;
  }

  /**
   * The same message may leave again where that is safe; another may not. Several calls are claimed together or not at all.
   * @throws ProductError ALREADY_DECIDED; STORAGE when nobody can tell, and so nothing may leave
   */
  async claim(
    messageId: string,
    calls: readonly DecidedCall[],
    of: Pick<Asking, 'agent' | 'taskId'>,
  ): Promise<void> {
    if (calls.length === 0 || this.#sent.has(messageId)) return;
    const claimed: Asking[] = [];
    try {
      for (const { callId, shown } of calls) {
        if (shown === undefined) throw decidedBefore(callId, 'the agent has it, or it is on its way');
        const asking = { ...of, callId, shown };
        const before = await this.#take(asking, messageId);
        if (before !== undefined) throw decidedBefore(callId, this.#becameOf(before));
        claimed.push(asking);
      }
    } catch (error) {
      await this.#release(messageId, claimed);
      throw error;
    }
    this.#sent.set(messageId, claimed);
  }

  /** The message came to nothing. `arrived`: whether that is known for sure. */
  async failed(messageId: string, arrived: 'no' | 'unknown'): Promise<void> {
    if (arrived === 'unknown') this.#lost.add(messageId);
    else await this.#forget(messageId);
  }

  /** The agent has been asked how things stand: what it says still waits may be decided after all. */
  async looked(): Promise<void> {
    const lost = [...this.#lost];
    this.#lost.clear();
    for (const messageId of this.#left) this.#past.add(messageId);
    this.#left.clear();
    for (const messageId of lost) await this.#forget(messageId);
  }

  async #take(asking: Asking, messageId: string): Promise<Claim | undefined> {
    try {
      return await this.#claims.take(asking, messageId, this.#past);
    } catch (error) {
      throw new ProductError(
        'STORAGE',
        `This agent would run the call again for a second decision, and the bridge could not make sure that there is no other (${messageOf(error)}). Nothing was sent. See that its state directory can be written to, and decide again.`,
        { facts: { callId: asking.callId }, cause: error },
      );
    }
  }

  #becameOf({ messageId, running }: Claim): string {
    if (running && !this.#lost.has(messageId)) return 'the agent has it, or it is on its way';
    if (!running) this.#left.add(messageId);
    return 'whether it arrived is not known';
  }

  async #forget(messageId: string): Promise<void> {
    const claimed = this.#sent.get(messageId) ?? [];
    this.#sent.delete(messageId);
    await this.#release(messageId, claimed);
  }

  async #release(messageId: string, claimed: readonly Asking[]): Promise<void> {
    // One that cannot be taken back keeps a call from being decided again, which is the safer side.
    for (const asking of claimed) {
      try {
        this.#claims.release(asking, messageId);
      } catch {
        // The claim stands.
      }
    }
  }
}

function decidedBefore(callId: string, known: string): ProductError {
  return new ProductError(
    'ALREADY_DECIDED',
    `A decision on ${callId} has been sent before: ${known}. This agent would run the call again for a second one, so nothing was sent. Look with wait_for_task.`,
    { facts: { callId } },
  );
}
