import type { AbortScope } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { AbortCause } from './abort-cause.ts';
import { PausableTimeout } from './pausable-timeout.ts';
import { wholeUnitDurationText } from './time-limits.ts';

/**
 * Contains the abort scope of one turn, for its model call and its tool executions. At the time limit, the running
 * operations stop. Their effects remain.
 */
export class TurnAbortScope {
  readonly scope: AbortScope<AbortCause>;
  readonly timeout: PausableTimeout | undefined;

  constructor(task: AbortScope<AbortCause>, clock: Clock, limitMs: number | null) {
    this.scope = task.child();
    if (limitMs === null) return;
    const message = `The turn took longer than its time limit of ${wholeUnitDurationText(limitMs)}.`;
    this.timeout = new PausableTimeout(clock, limitMs, () =>
      this.scope.abort({ reason: 'timeout', message }),
    );
  }

  end(): void {
    this.timeout?.cancel();
    this.scope.close();
  }
}
