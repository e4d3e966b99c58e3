/**
 * Claims decisions before they are sent, for agents that run a call once per approval. All bridges together send one
 * decision for each call and shown content (E2). If the agent asks again with other content, that is a new call.
 */
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { AskedQuestion, DecisionClaim, DecisionClaims } from '../state/decision-claims.ts';
import type { TaskView } from './task-view.ts';

interface DecidedCall {
  callId: string;
  /** The code of the current request; undefined if the call no longer waits. */
  shown: string | undefined;
}

/**
 * Returns the calls that a message decides, with their codes.
 * @param view the task; undefined if the agent has not named one
 */
export function decidedCalls(
  callIds: readonly string[],
  view: Pick<TaskView, 'pending' | 'proposals'> | undefined,
): readonly DecidedCall[] {
  return callIds.map((callId) => {
    const action = view?.pending.find((each) => each.callId === callId);
    // The agent's own code is used, because bridges may show the same request differently.
    const asked = view?.proposals?.get(callId)?.code;
    return { callId, shown: action && (asked ?? action.shown) };
  });
}

export class SentDecisions {
  readonly #claims: DecisionClaims;
  /** The claimed calls, by message id. */
  readonly #sent = new Map<string, readonly AskedQuestion[]>();
  /** Messages that may have arrived. */
  readonly #lost = new Set<string>();
  /**
   * Messages of ended processes that may have arrived. `past` has those that were sent before the bridge last asked the
   * agent.
   */
  readonly #left = new Set<string>();
  readonly #past = new Set<string>();

  constructor(claims: DecisionClaims) {
    this.#claims = claims;
  }

  /**
   * Claims the calls for a message. After that, no other message may decide these calls. The same message may be resent
   * if that is safe. Claims all calls or none.
   * @throws ProductError ALREADY_DECIDED; STORAGE if the claim cannot be checked, so nothing may be sent
   */
  async claim(
    messageId: string,
    calls: readonly DecidedCall[],
    of: Pick<AskedQuestion, 'agent' | 'taskId'>,
  ): Promise<void> {
    if (calls.length === 0 || this.#sent.has(messageId)) return;
    const claimed: AskedQuestion[] = [];
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

  /** Call this when the message failed. `no` means that it certainly did not arrive. */
  async failed(messageId: string, arrived: 'no' | 'unknown'): Promise<void> {
    if (arrived === 'unknown') this.#lost.add(messageId);
    else await this.#forget(messageId);
  }

  /** Call this when the agent has reported the task. A person may then decide again any call that still waits. */
  async looked(): Promise<void> {
    const lost = [...this.#lost];
    this.#lost.clear();
    for (const messageId of this.#left) this.#past.add(messageId);
    this.#left.clear();
    for (const messageId of lost) await this.#forget(messageId);
  }

  async #take(asking: AskedQuestion, messageId: string): Promise<DecisionClaim | undefined> {
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

  #becameOf({ messageId, running }: DecisionClaim): string {
    if (running && !this.#lost.has(messageId)) return 'the agent has it, or it is on its way';
    if (!running) this.#left.add(messageId);
    return 'whether it arrived is not known';
  }

  async #forget(messageId: string): Promise<void> {
    const claimed = this.#sent.get(messageId) ?? [];
    this.#sent.delete(messageId);
    await this.#release(messageId, claimed);
  }

  async #release(messageId: string, claimed: readonly AskedQuestion[]): Promise<void> {
    // A claim that cannot be released blocks another decision, which is the safe result.
    for (const asking of claimed) {
      try {
        this.#claims.release(asking, messageId);
      } catch {
        // The claim stays.
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
