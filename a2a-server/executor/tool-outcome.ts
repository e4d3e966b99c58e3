/** From a tool's promise and its scope to the outcome that is recorded. */
import { onAbort, type AbortScope } from '../../shared/runtime/abort.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf } from '../../shared/runtime/errors.ts';
import type { ToolOutcome } from '../task/events.ts';
import { ToolStopped, type ToolResult } from '../tools/tool.ts';
import type { StopCause } from './stop-reason.ts';

export interface Bounds {
  scope: AbortScope<StopCause>;
  clock: Clock;
  /** How long the tool may take to settle once its signal has fired, in milliseconds. */
  graceMs: number;
  /** What it has put out so far, for the record of a stop. */
  soFar: () => string;
}

/**
 * Runs the tool to its outcome. Once the scope is aborted it waits no longer than the grace period: a tool that has not
 * settled by then is `stopped`, unconfirmed, and what it does later is nobody's (A2). Never rejects.
 */
export function outcomeOf(start: () => Promise<ToolResult>, bounds: Bounds): Promise<ToolOutcome> {
  const { scope, clock, graceMs, soFar } = bounds;
  return new Promise((resolve) => {
    const stopped = (confirmed: boolean, text: string): void =>
      resolve({
        type: 'stopped',
        reason: scope.reason?.reason ?? 'own-error',
        confirmed,
        message: scope.reason?.message ?? 'Stopped.',
        text,
      });
    // What its turn or its task has run out of time for is not begun.
    if (scope.signal.aborted) return stopped(true, '');
    let cancelGrace: (() => void) | undefined;
    const stopListening = onAbort(scope.signal, () => {
      cancelGrace = clock.after(graceMs, () => stopped(false, soFar()));
    });
    const settled = (): void => {
      stopListening();
      cancelGrace?.();
    };
    void Promise.resolve()
      .then(start)
      .then(
        (result) => {
          settled();
          // It came to its end in spite of the signal: it did what it did, and that is what is recorded.
          return resolve({ type: 'ok', ...result });
        },
        (error: unknown) => {
          settled();
          if (!scope.signal.aborted) return resolve({ type: 'error', message: messageOf(error) });
          return error instanceof ToolStopped ? stopped(error.confirmed, error.text) : stopped(true, soFar());
        },
      );
  });
}
