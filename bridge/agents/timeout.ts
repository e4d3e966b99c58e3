/** Limits how long the bridge waits for an agent. */

/**
 * Resolves with the result of `work` if the work finishes in time. A timeout does not stop the work, because other
 * callers may wait for it.
 * @throws TimeoutError when the time is up, and any error of the work before that
 */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DOMException('It took too long', 'TimeoutError')), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // The work may fail after the timeout. No caller needs that error.
    work.catch(() => undefined);
  }
}

/** The time limit for each of several agents, in milliseconds. A single agent has no such limit. */
const PATIENCE_MS = 5_000;

/**
 * Limits the time of a request to an agent if the bridge asks several agents.
 * @param asked the number of agents asked in parallel
 * @throws TimeoutError for a slow agent, if the bridge asks several
 */
export function withTimeoutOr<T>(asked: number, work: Promise<T>): Promise<T> {
  return asked > 1 ? withTimeout(PATIENCE_MS, work) : work;
}
