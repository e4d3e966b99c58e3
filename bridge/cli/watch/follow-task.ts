/**
 * Follows a task's events from a cursor on, across cuts, until the task has ended or cannot be followed. An event
 * repeats only if the agent has no cursors (S1 otherwise).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Agent } from '../../agents/agent.ts';
import type { Observed } from '../../dialects/observation.ts';
import { BACK_OFF, type BackOff } from '../../sessions/back-off.ts';
import { fold, hasEnded, hasSettled, type TaskView } from '../../sessions/task-view.ts';

export interface Followed {
  agent: Agent;
  taskId: string;
  /** The `seq` to begin after; null for the current task. */
  from: number | null;
  /** Ends also when the task waits for a person. */
  untilSettled: boolean;
  signal: AbortSignal;
  onEvent: (observed: Observed, view: TaskView | undefined) => void;
  /** The stream was cut and will be reopened. */
  onCut: (error: ProductError) => void;
  backOff?: BackOff;
}

/** @returns the last view of the task. @throws ProductError when the task cannot be followed */
export async function followTask(followed: Followed): Promise<TaskView | undefined> {
  const { agent, taskId, signal, onEvent, onCut, backOff = BACK_OFF } = followed;
  let at = followed.from;
  let view: TaskView | undefined;
  let failures = 0;
  const done = (): boolean =>
    view !== undefined && (hasEnded(view) || (followed.untilSettled && hasSettled(view)));
  for (;;) {
    let cut: ProductError | undefined;
    let resumes = true;
    try {
      const connection = await agent.connect();
      resumes = connection.deduplicates;
      await connection.follow({
        taskId,
        after: at,
        signal,
        onEvent(event) {
          const observed = connection.dialect.read(event);
          view = fold(view, observed);
          at = observed.seq ?? at;
          failures = 0;
          onEvent(observed, view);
          return done() ? 'enough' : 'more';
        },
      });
    } catch (thrown) {
      cut = agent.failed(thrown);
      // The agent refused: the same request would be refused again. An error that ended a stream may be temporary.
      if (!cut.retryable && cut.reason !== 'AGENT_ERROR') throw cut;
    }
    // Without cursors, the agent reports nothing about a waiting task until it is decided.
    if (done() || (!resumes && view !== undefined && hasSettled(view))) return view;
    if (failures >= backOff.retries) throw cut ?? endless(agent);
    if (cut !== undefined) onCut(cut);
    await delay(Math.min(backOff.minTimeout * backOff.factor ** failures, backOff.maxTimeout), undefined, {
      signal,
    });
    failures += 1;
  }
}

function endless(agent: Agent): ProductError {
  return new ProductError(
    'AGENT_UNREACHABLE',
    `Agent "${agent.name}" ends the task's stream again and again before the task has ended. The task was not touched by this.`,
  );
}
