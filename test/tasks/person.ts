/**
 * Simulates the person of a job: approves each action, unless the job plans another decision. Counts the questions.
 */
import type { Decision, PendingAction } from '../../shared/client/index.ts';
import type { Intervention } from './job.ts';

export class Person {
  #decisions = 0;
  readonly #interventions: Intervention[];
  /** The actions that already have a decision. The task lists an action until the decision has arrived. */
  readonly #decided = new Set<string>();

  constructor(interventions: readonly Intervention[]) {
    this.#interventions = [...interventions];
  }

  get decisions(): number {
    return this.#decisions;
  }

  /** Decides each pending action once. */
  decide(pending: readonly PendingAction[]): Decision[] {
    return pending.flatMap((action) => {
      const asking = `${action.callId} ${action.shown}`;
      if (this.#decided.has(asking)) return [];
      this.#decided.add(asking);
      this.#decisions += 1;
      return [this.#decisionOn(action)];
    });
  }

  #decisionOn({ callId, shown, tool, decisions }: PendingAction): Decision {
    const at = this.#interventions.findIndex((each) => each.tool === tool);
    const [intervention] = at === -1 ? [] : this.#interventions.splice(at, 1);
    if (intervention !== undefined) return { callId, shown, ...intervention.decision };
    // Without a planned answer, a question gets this text.
    if (decisions.includes('answer'))
      return { callId, shown, decision: 'deny', reason: 'Decide it yourself, as the task suggests.' };
    return { callId, shown, decision: 'approve' };
  }
}
