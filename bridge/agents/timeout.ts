/** Waiting for an agent only so long. */

/**
 * What the work comes to, if it does so in time. The work itself is not stopped: others may wait for it too.
 * @param ms milliseconds
 * @throws TimeoutError when the time is up, and whatever the work throws before
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
    // What fails later concerns nobody here.
    work.catch(() => undefined);
  }
}

/** How long one of several agents is waited for, in milliseconds. One alone is given all the time its requests take. */
const PATIENCE_MS = 5_000;

/** @param asked how many agents are asked at once. @throws TimeoutError, for one of several */
export function withTimeoutOr<T>(asked: number, work: Promise<T>): Promise<T> {
  return asked > 1 ? withTimeout(PATIENCE_MS, work) : work;
}
