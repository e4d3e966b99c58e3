/** Stores the last steps of a task, so that a client can ask what has changed. */
import type { Observation, TaskStateName } from '../../dialects/observation.ts';
import { toolCallEventText } from './tool-call-event-text.ts';
import { toClientSessionState } from '../../dialects/session-state-for-client.ts';

interface RecentActivityStep {
  cursor: number;
  words: string;
}

interface RecentSteps {
  changes: string[];
  changesComplete: boolean;
}

const MAX_STEPS = 100;

export class RecentActivity {
  #steps: readonly RecentActivityStep[] = [];
  #changes = 0;
  /** The value of `#changes` at the start of the current task. */
  #changesBefore = 0;
  /** The cursor before which this bridge may have missed steps. 0 if it has missed none. */
  #gapEnd = 0;
  #changedAt = new Date();

  /** The number of changes of all tasks of the session. */
  get changes(): number {
    return this.#changes;
  }

  get changedAt(): Date {
    return this.#changedAt;
  }

  /**
   * Returns the steps of the current task after a cursor, and whether this bridge has seen all of them.
   * @param asked a cursor of an earlier status. A cursor after the current one belongs to an earlier task, so all steps
   * are newer. Undefined for all steps.
   * @param now the current cursor, and the last `seq` of the agent. `seq` is null if the agent sends none.
   */
  since(asked: number | undefined, now: { cursor: number; seq: number | null }): RecentSteps {
    const after = asked !== undefined && asked <= now.cursor ? asked : undefined;
    const first = this.#steps[0]?.cursor ?? now.cursor;
    const start = now.seq === null ? this.#changesBefore : 0;
    const hasStart = this.#steps.length > 0 && first <= start + 2;
    return {
      changes: this.#steps.filter(({ cursor }) => cursor > (after ?? 0)).map(({ words }) => words),
      changesComplete: (after ?? 0) >= this.#gapEnd && (after === undefined ? hasStart : after >= first - 1),
    };
  }

  /** Forgets the steps of the session's earlier task. An agent's cursor counts the events of one task. */
  beginTask(): void {
    this.#steps = [];
    this.#changesBefore = this.#changes;
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
