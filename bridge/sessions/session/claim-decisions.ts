/**
 * Claims decisions before they are sent, for agents that run a call once per approval. E2: an approved call runs at
 * most once. So all bridges together send only one decision for each call and its shown content. If the agent asks
 * again with other content, that counts as a new call.
 */
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { CallAndCode, DecisionClaim, DecisionClaims } from '../../state/decision-claims.ts';
import type { TaskView } from './observed-task.ts';

interface DecidedCall {
  callId: string;
  /** The code of what the agent asks now. Undefined if the call no longer waits. */
  shown: string | undefined;
}

/**
 * Returns the calls that a message decides, with their codes.
 * @param view the view of the task; undefined if the agent has not sent a task id
 */
export function decidedCalls(
  callIds: readonly string[],
  view: Pick<TaskView, 'pending' | 'proposals'> | undefined,
): readonly DecidedCall[] {
  return callIds.map((callId) => {
    const action = view?.pending.find((each) => each.callId === callId);
    // If the agent proposes a change, its code identifies what the agent asks. All bridges compute the same code. Their
    // codes in `shown` may differ, because one of them may show a newer diff of the file to change.
    const asked = view?.proposals?.get(callId)?.code;
    return { callId, shown: action && (asked ?? action.shown) };
  });
}

export class SentDecisions {
  readonly #claims: Pick<DecisionClaims, 'take' | 'release'>;
  /** The claimed calls, by the id of the message that decides them. */
  readonly #sent = new Map<string, readonly CallAndCode[]>();
  /** The ids of messages that may have arrived. */
  readonly #lost = new Set<string>();
  /**
   * The ids of messages that may have arrived, and whose process has ended. After the agent's next report of the task,
   * each of these ids moves to `#past`. If the call still waits in that report, the message has not arrived. So another
   * message may then replace its claim.
   */
  readonly #left = new Set<string>();
  readonly #past = new Set<string>();

  constructor(claims: Pick<DecisionClaims, 'take' | 'release'>) {
    this.#claims = claims;
  }

  /**
   * Claims the calls that a message decides. After that, no other message may decide them. The same message may be sent
   * again, if that is safe. Claims either all calls or none.
   * @throws ProductError ALREADY_DECIDED; STORAGE if the claim cannot be checked. The message must not be sent then.
   */
  async claim(
    messageId: string,
    calls: readonly DecidedCall[],
    of: Pick<CallAndCode, 'agent' | 'taskId'>,
  ): Promise<void> {
    if (calls.length === 0 || this.#sent.has(messageId)) return;
    const claimed: CallAndCode[] = [];
    try {
      for (const { callId, shown } of calls) {
        if (shown === undefined)
          throw decisionSentBeforeError(callId, 'the agent has it, or it is on its way');
        const asking = { ...of, callId, shown };
        const before = await this.#claimOne(asking, messageId);
        if (before !== undefined) throw decisionSentBeforeError(callId, this.#arrivalText(before));
        claimed.push(asking);
      }
    } catch (error) {
      await this.#release(messageId, claimed);
      throw error;
    }
    this.#sent.set(messageId, claimed);
  }

  /** Records that a message failed. With `no`, it certainly did not arrive, so its claims are released. */
  async failed(messageId: string, arrived: 'no' | 'unknown'): Promise<void> {
    if (arrived === 'unknown') this.#lost.add(messageId);
    else await this.#forget(messageId);
  }

  /**
   * The caller calls this method before the bridge requests the task. It calls the returned function when the agent has
   * reported the task. That function releases the claims of decisions that may have been lost before the request. If
   * the call still waits then, its decision was lost, so a person may decide it again.
   */
  beforeTaskRequest(): () => Promise<void> {
    const lost = [...this.#lost];
    const left = [...this.#left];
    return async () => {
      for (const messageId of left) {
        this.#past.add(messageId);
        this.#left.delete(messageId);
      }
      for (const messageId of lost) if (this.#lost.delete(messageId)) await this.#forget(messageId);
    };
  }

  async #claimOne(asking: CallAndCode, messageId: string): Promise<DecisionClaim | undefined> {
    try {
      return await this.#claims.take(asking, messageId, this.#past);
    } catch (error) {
      throw new ProductError(
        'STORAGE',
        `This agent would run the call again for a second decision, and the bridge cannot check whether there was an earlier one (${errorMessageOf(error)}). Nothing was sent. Check that the bridge can write to its state directory, and decide again.`,
        { facts: { callId: asking.callId }, cause: error },
      );
    }
  }

  #arrivalText({ messageId, running }: DecisionClaim): string {
    if (running && !this.#lost.has(messageId)) return 'the agent has it, or it is on its way';
    if (!running) this.#left.add(messageId);
    return 'whether it arrived is not known';
  }

  async #forget(messageId: string): Promise<void> {
    const claimed = this.#sent.get(messageId) ?? [];
    this.#sent.delete(messageId);
    await this.#release(messageId, claimed);
  }

  async #release(messageId: string, claimed: readonly CallAndCode[]): Promise<void> {
    for (const asking of claimed) {
      try {
        this.#claims.release(asking, messageId);
      } catch {
        // If the release fails, the claim stays and prevents another decision. That is safe.
      }
    }
  }
}

function decisionSentBeforeError(callId: string, known: string): ProductError {
  return new ProductError(
    'ALREADY_DECIDED',
    `A decision on ${callId} has been sent before: ${known}. This agent would run the call again for a second one, so nothing was sent. Look with wait_for_task.`,
    { facts: { callId } },
  );
}
