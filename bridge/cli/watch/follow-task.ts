/**
 * A task's events from a cursor on, over every cut, until the task has ended or there is nothing to follow it by.
 * One event may be seen again only where the agent has no cursors (S1 elsewhere).
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
  /** The position after which to begin; null for the task as it stands. */
  from: number | null;
  /** Ends with the first moment at which the task waits, too. */
  untilSettled: boolean;
  signal: AbortSignal;
  onEvent: (observed: Observed, view: TaskView | undefined) => void;
  /** The stream was cut, and is opened again. */
  onCut: (error: ProductError) => void;
  backOff?: BackOff;
}

/** @returns the task as last seen. @throws ProductError when it cannot be followed, or not any more */
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
      // It has said no: the same question would be answered the same. What ends a stream that had begun may pass.
      if (!cut.retryable && cut.reason !== 'AGENT_ERROR') throw cut;
    }
    // Without cursors nothing says what happens to a task that waits, until somebody has decided.
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
