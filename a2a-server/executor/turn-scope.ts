/**
 * One turn at work: the lifetime of its model call and of the tools it asked for. When its time is up, what still runs is
 * stopped; what it did so far stands.
 */
import type { AbortScope } from '../../shared/runtime/abort.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { PausableTimeout } from './pausable-timeout.ts';
import type { StopCause } from './stop-reason.ts';
import { written } from './time-limits.ts';

export class TurnScope {
  readonly scope: AbortScope<StopCause>;
  /** Its limit, where it has one. */
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
