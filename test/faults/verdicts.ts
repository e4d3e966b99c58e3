/** Simulates the decisions of a person. The same question always gets the same decision. */
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import type { Random } from './random.ts';
import { editedInput } from './workload.ts';

export type Verdict = { decision: 'approve' | 'deny' } | { decision: 'edit'; input: PendingAction['input'] };

export class Verdicts {
  readonly #random: Random;
  readonly #made = new Map<string, Verdict>();

  constructor(random: Random) {
    this.#random = random;
  }

  on(action: Pick<PendingAction, 'callId' | 'reason' | 'input'>): Verdict {
    const key = `${action.callId} ${action.reason}`;
    const made = this.#made.get(key) ?? this.#decide(action);
    this.#made.set(key, made);
    return made;
  }

  /** Approves most actions, some of them edited. For an unknown outcome, "run again" and "skip" are equally likely. */
  #decide({ reason, input }: Pick<PendingAction, 'reason' | 'input'>): Verdict {
    const dice = this.#random.next();
    if (reason !== 'approval') return { decision: dice < 0.5 ? 'approve' : 'deny' };
    if (dice < 0.15) return { decision: 'deny' };
    return dice < 0.35 ? { decision: 'edit', input: editedInput(input) } : { decision: 'approve' };
  }
}
