/** A person for a benchmark: approves what is asked, but for what the job says. Counts what they were asked. */
import type { Decision, PendingAction } from '../../shared/client/index.ts';
import type { Intervention } from './job.ts';

export class Person {
  #decisions = 0;
  readonly #interventions: Intervention[];
  /** What was decided on already: a task tells of it until the decision has arrived. */
  readonly #decided = new Set<string>();

  constructor(interventions: readonly Intervention[]) {
    this.#interventions = [...interventions];
  }

  get decisions(): number {
    return this.#decisions;
  }

  /** What they say to what waits, each asking once. */
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
    // To a question that nobody foresaw there is no answer but this one.
    if (decisions.includes('answer'))
      return { callId, shown, decision: 'deny', reason: 'Decide it yourself, as the task suggests.' };
    return { callId, shown, decision: 'approve' };
  }
}
