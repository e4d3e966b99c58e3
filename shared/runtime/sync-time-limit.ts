/**
 * Runs synchronous work with a time limit.
 *
 * A regular expression, a glob or a .gitignore line from an untrusted source can take practically forever to match.
 * JavaScript cannot interrupt a running match, but V8 can. The time limit of `node:vm` ends everything in the script,
 * including regular expressions.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';

/** The work did not end in time. The caller must discard all data that the work was changing. */
export class TimeExceeded extends Error {
  override readonly name = 'TimeExceeded';
}

const box: { work: () => void } = { work: () => undefined };
const context = createContext(box, { name: 'bounded time' });
const call = new Script('work()', { filename: 'time-limit' });

/** Adds about 0.05 ms to the work. @throws TimeExceeded after `ms` milliseconds, or the error that the work threw */
export function withinTime<T>(ms: number, work: () => T): T {
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
  if (done === undefined) throw new TimeExceeded(`not done within ${ms} ms`);
  return done.value;
}

/**
 * Like `withinTime`, for work that can run twice. A busy machine can delay the first run, so only a second timeout
 * counts. The event loop runs between the two attempts.
 */
export async function withinTimeTwice<T>(ms: number, work: () => T): Promise<T> {
  try {
    return withinTime(ms, work);
  } catch (error) {
    if (!(error instanceof TimeExceeded)) throw error;
    await nextTurn();
    return withinTime(ms, work);
  }
}

function isTimeout(error: unknown): boolean {
  // The error comes from another realm, so `instanceof Error` is false.
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
