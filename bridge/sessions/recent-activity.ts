/** Keeps the last steps of a task, so that a client can ask what has changed. */
import type { Observation, TaskStateName } from '../dialects/observation.ts';
import { activityText } from './activity-text.ts';
import { toMcpState } from '../dialects/mcp-state.ts';

/** A step, and the cursor after it. */
export interface Step {
  cursor: number;
  words: string;
}

const KEPT = 100;

export class RecentActivity {
  #kept: readonly Step[] = [];

  /** Oldest first. */
  get kept(): readonly Step[] {
    return this.#kept;
  }

  /** @param states of the task, before and after the observations */
  note(
    observations: readonly Observation[],
    states: { before: TaskStateName | undefined; after: TaskStateName | undefined },
    cursor: number,
  ): void {
    const words = observations.flatMap((each) =>
      each.type === 'activity' ? (activityText(each.activity) ?? []) : [],
    );
    const { before, after } = states;
    if (after !== undefined && (before === undefined || toMcpState(after) !== toMcpState(before)))
      words.push(toMcpState(after));
    this.#kept = [...this.#kept, ...words.map((each) => ({ cursor, words: each }))].slice(-KEPT);
  }
}
