/** Computes the outcome of a tool execution from the tool's promise and the abort scope. */
import { onAbort, type AbortScope } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import type { ToolOutcome } from '../../task/events.ts';
import { ToolStoppedError } from '../../tools/tool.ts';
import type { AbortCause } from '../abort-scopes/abort-cause.ts';

type Success = Omit<Extract<ToolOutcome, { type: 'ok' }>, 'type'>;

interface OutcomeOptions {
  scope: AbortScope<AbortCause>;
  clock: Clock;
  /** The time limit for the tool to end after its signal fires. */
  graceMs: number;
  /** Returns the output so far, for the outcome of a stopped tool. */
  soFar: () => string;
  /** Called before the outcome is returned, if the tool may still run after its stop. `why` is one sentence. */
  onUnconfirmed?: (why: string) => void;
}

/**
 * Runs the tool and resolves with its outcome. After an abort, the tool has the grace period to end. A2: a tool that
 * still runs after the grace period is recorded as `stopped` and unconfirmed. Its later result is ignored. Never
 * rejects.
 */
export function runToolToOutcome(
  start: () => Promise<Success>,
  bounds: OutcomeOptions,
): Promise<ToolOutcome> {
  const { scope, clock, graceMs, soFar, onUnconfirmed = () => undefined } = bounds;
  return new Promise((resolve) => {
    const stopped = (confirmed: boolean, text: string): void =>
      resolve({
        type: 'stopped',
        reason: scope.reason?.reason ?? 'own-error',
        confirmed,
        message: scope.reason?.message ?? 'Stopped.',
        text,
      });
    // The turn or the task has already stopped, so the tool does not start.
    if (scope.signal.aborted) return stopped(true, '');
    let cancelGrace: (() => void) | undefined;
    const stopListening = onAbort(scope.signal, () => {
      cancelGrace = clock.after(graceMs, () => {
        onUnconfirmed(`The tool did not end within ${String(graceMs)} ms. It may still run.`);
        stopped(false, soFar());
      });
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
          // The tool finished despite the abort, so its result is the outcome.
          return resolve({ type: 'ok', ...result });
        },
        (error: unknown) => {
          settled();
          if (!scope.signal.aborted) return resolve({ type: 'error', message: errorMessageOf(error) });
          if (!(error instanceof ToolStoppedError)) return stopped(true, soFar());
          if (!error.confirmed) onUnconfirmed(error.message);
          return stopped(error.confirmed, error.text);
        },
      );
  });
}
