/**
 * The lifetime of one turn: its model call and its tool executions. At the time limit the running ones stop; their
 * effects remain.
 */
import type { AbortScope } from '../../shared/runtime/abort.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { PausableTimeout } from './pausable-timeout.ts';
import type { StopCause } from './stop-reason.ts';
import { written } from './time-limits.ts';

export class TurnScope {
  readonly scope: AbortScope<StopCause>;
  /** The time limit of the turn, if it has one. */
  readonly countdown: PausableTimeout | undefined;

  constructor(task: AbortScope<StopCause>, clock: Clock, limitMs: number | null) {
    this.scope = task.child();
    if (limitMs === null) return;
    const message = `The turn took longer than ${written(limitMs)}, its time limit.`;
    this.countdown = new PausableTimeout(clock, limitMs, () =>
      this.scope.abort({ reason: 'timeout', message }),
    );
  }

  end(): void {
    this.countdown?.cancel();
    this.scope.close();
  }
}
