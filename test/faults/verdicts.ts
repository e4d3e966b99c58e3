/** What the person of a flow decides. The same question gets the same answer, however often it is asked. */
import type { DecisionWord, PendingReason } from '../../shared/protocol/tool-approval.ts';
import type { Random } from './random.ts';

export class Verdicts {
  readonly #random: Random;
  readonly #made = new Map<string, 'approve' | 'deny'>();

  constructor(random: Random) {
    this.#random = random;
  }

  on(action: { callId: string; reason: PendingReason }): Extract<DecisionWord, 'approve' | 'deny'> {
    const key = `${action.callId} ${action.reason}`;
    const made = this.#made.get(key) ?? this.#decide(action.reason);
    this.#made.set(key, made);
    return made;
  }

  /** Most things are approved; where nobody knows the outcome, running again and skipping are tried alike. */
  #decide(reason: PendingReason): 'approve' | 'deny' {
    return this.#random.chance(reason === 'approval' ? 0.85 : 0.5) ? 'approve' : 'deny';
  }
}
