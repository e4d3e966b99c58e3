/**
 * Runs synchronous work that somebody else's pattern may have made endless, and stops it.
 *
 * A regular expression, a glob or a .gitignore line can take longer than the universe to match, and JavaScript cannot
 * interrupt it from within. V8 can: the time limit of `node:vm` ends whatever runs below it, regular expressions too.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';

/** The work did not end in time. Whatever it was changing is to be thrown away. */
export class TimeExceeded extends Error {
  override readonly name = 'TimeExceeded';
}

const box: { work: () => void } = { work: () => undefined };
const context = createContext(box, { name: 'bounded time' });
const call = new Script('work()', { filename: 'bounded-time' });

/** Costs about 0.05 ms beyond the work. @throws TimeExceeded after `ms` milliseconds, or what the work threw. */
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
 * As `withinTime`, for work that may be done again: what is too slow once may have been kept waiting by a busy machine, only
 * what is too slow twice is to blame. The event loop turns in between.
 */
export async function patiently<T>(ms: number, work: () => T): Promise<T> {
  try {
    return withinTime(ms, work);
  } catch (error) {
    if (!(error instanceof TimeExceeded)) throw error;
    await nextTurn();
    return withinTime(ms, work);
  }
}

function isTimeout(error: unknown): boolean {
  // Of another realm's Error class, so `instanceof` would not know it.
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
