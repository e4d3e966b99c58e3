/**
 * Runs synchronous work with a time limit.
 *
 * A regular expression, a glob or a .gitignore line from an untrusted source can take practically forever to match.
 * JavaScript code cannot interrupt a running match. The time limit of `node:vm` can: it ends everything in the script,
 * including regular expressions.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';

/** The work did not end within the time limit. The caller must discard all data that the work was changing. */
export class TimeExceededError extends Error {
  override readonly name = 'TimeExceededError';
}

const box: { work: () => void } = { work: () => undefined };
const context = createContext(box, { name: 'bounded time' });
const call = new Script('work()', { filename: 'time-limit' });

/**
 * Runs the work with a time limit of `ms` milliseconds. The limit itself costs about 0.05 ms.
 * @throws TimeExceededError if the work takes longer, or the error that the work threw
 */
export function runWithinTime<T>(ms: number, work: () => T): T {
  let done: { value: T } | undefined;
  box.work = () => {
    done = { value: work() };
  };
  try {
    call.runInContext(context, { timeout: ms });
  } catch (error) {
    if (!isTimeout(error)) throw error;
  } finally {
    box.work = () => undefined;
  }
  if (done === undefined) throw new TimeExceededError(`not done within ${ms} ms`);
  return done.value;
}

/**
 * Like `runWithinTime`, but runs the work again after a timeout. A busy machine can delay the first run, so only the
 * second timeout is an error. The event loop runs between the two attempts. The work must be able to run twice.
 */
export async function runWithinTimeWithRetry<T>(ms: number, work: () => T): Promise<T> {
  try {
    return runWithinTime(ms, work);
  } catch (error) {
    if (!(error instanceof TimeExceededError)) throw error;
    await nextTurn();
    return runWithinTime(ms, work);
  }
}

function isTimeout(error: unknown): boolean {
  // The error comes from another JavaScript realm, so `instanceof Error` would be false.
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
