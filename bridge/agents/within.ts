/** Waiting for an agent only so long. */

/**
 * What the work comes to, if it does so in time. The work itself is not stopped: others may wait for it too.
 * @param ms milliseconds
 * @throws TimeoutError when the time is up, and whatever the work throws before
 */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
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
