import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { ProductError, errorCode } from '../../shared/runtime/errors.ts';

/**
 * The time in milliseconds after which the lock of a killed bridge is ignored. A bridge that holds the lock refreshes it
 * every 5 s.
 */
const STALE_MS = 10_000;
/** The maximum time to wait for the lock, in milliseconds. A start by another bridge takes up to 20 s. */
const MAX_WAIT_MS = 30_000;
const POLL_MS = 250;

/**
 * Runs the work while this bridge holds the lock.
 * @param work receives a signal that aborts if the lock is lost. Another bridge may take the lock while the machine
 * sleeps.
 * @param doneByOther called repeatedly while another bridge holds the lock. If it returns a result, that result is
 * returned without the lock, because the other bridge may have been killed before it could release the lock.
 * @throws ProductError AGENT_UNREACHABLE if another bridge keeps the lock; an error of the file system
 */
export async function withStartLock<Result>(
  stateDirectory: string,
  work: (lost: AbortSignal) => Promise<Result>,
  doneByOther: () => Promise<Result | undefined> = () => Promise.resolve(undefined),
): Promise<Result> {
  const lost = new AbortController();
  const until = performance.now() + MAX_WAIT_MS;
  for (;;) {
    const release = await tryLock(stateDirectory, lost);
    if (release !== undefined) {
      try {
        return await work(lost.signal);
      } finally {
        // A lost lock cannot be released. It becomes stale by itself.
        await release().catch(() => undefined);
      }
    }
    const done = await doneByOther();
    if (done !== undefined) return done;
    if (performance.now() >= until)
      throw new ProductError(
        'AGENT_UNREACHABLE',
        `Another bridge has been starting the local A2A server for a long time. Try again in half a minute. If the error stays, read ${join(stateDirectory, 'server.log')}.`,
      );
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Takes the lock. Returns undefined if another bridge holds it. @throws an error of the file system */
async function tryLock(
  stateDirectory: string,
  lost: AbortController,
): Promise<(() => Promise<void>) | undefined> {
  try {
    return await lock(stateDirectory, {
      stale: STALE_MS,
      lockfilePath: join(stateDirectory, 'server-start.lock'),
      // Without this callback, the library would throw in a timer, and the bridge would end.
      onCompromised: (error) => lost.abort(error),
    });
  } catch (error) {
    if (errorCode(error) === 'ELOCKED') return undefined;
    throw error;
  }
}
