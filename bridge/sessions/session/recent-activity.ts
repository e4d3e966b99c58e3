/** Stores the last steps of a task, so that a client can ask what has changed. */
import type { Observation, TaskStateName } from '../../dialects/observation.ts';
import { toolCallEventText } from './tool-call-event-text.ts';
import { toClientSessionState } from '../../dialects/session-state-for-client.ts';

interface RecentActivityStep {
  cursor: number;
  words: string;
}

const MAX_STEPS = 100;

export class RecentActivity {
  #steps: readonly RecentActivityStep[] = [];
  #changes = 0;
  #gapEnd = 0;
  #changedAt = new Date();

  get steps(): readonly RecentActivityStep[] {
    return this.#steps;
  }

  get changes(): number {
    return this.#changes;
  }

  get changedAt(): Date {
    return this.#changedAt;
  }

  /** The cursor before which this bridge may have missed steps. 0 if it has missed none. */
  get gapEnd(): number {
    return this.#gapEnd;
  }

  /** Forgets the steps of the session's earlier task. Cursors count the events of one task. */
  beginTask(): void {
    this.#steps = [];
    this.#changes = 0;
    this.#gapEnd = 0;
  }

  /**
   * Records that this bridge may have missed steps before this cursor: it has fetched the task's state at the cursor,
   * without the events before it. Removes steps after the cursor, which exist if the agent has restored the task from a
   * backup.
   */
  noteGap(cursor: number): void {
    this.#gapEnd = cursor;
    this.#steps = this.#steps.filter((step) => step.cursor <= cursor);
  }

  /**
   * Records the steps that the observations describe.
   * @param states the states of the task before and after the observations
   * @param cursor returns the cursor after the observations
   */
  note(
    observations: readonly Observation[],
    { before, after }: { before: TaskStateName | undefined; after: TaskStateName | undefined },
    cursor: () => number,
  ): void {
    this.#changes += 1;
    this.#changedAt = new Date();
    const words = observations.flatMap((each) =>
      each.type === 'activity' ? (toolCallEventText(each.activity) ?? []) : [],
    );
    if (
      after !== undefined &&
      (before === undefined || toClientSessionState(after) !== toClientSessionState(before))
    )
      words.push(toClientSessionState(after));
    this.#steps = [...this.#steps, ...words.map((each) => ({ cursor: cursor(), words: each }))].slice(
      -MAX_STEPS,
    );
  }
}
