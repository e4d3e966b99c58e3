/**
 * One turn at work: the lifetime of its model call and of the tools it asked for. When its time is up, what still runs is
 * stopped; what it did so far stands.
 */
import type { AbortScope } from '../../shared/abort.ts';
import type { Clock } from '../../shared/clock.ts';
import { Countdown } from './countdown.ts';
import type { Stop } from './stop.ts';
import { written } from './time-limits.ts';

export class TurnScope {
  readonly scope: AbortScope<Stop>;
  /** Its limit, where it has one. */
  readonly countdown: Countdown | undefined;

  constructor(task: AbortScope<Stop>, clock: Clock, limitMs: number | null) {
    this.scope = task.child();
    if (limitMs === null) return;
    const message = `The turn took longer than ${written(limitMs)}, its time limit.`;
    this.countdown = new Countdown(clock, limitMs, () => this.scope.abort({ reason: 'timeout', message }));
  }

  end(): void {
    this.countdown?.cancel();
    this.scope.close();
  }
}
