import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { ProductError, errorCode } from '../../shared/runtime/errors.ts';
import { withTimeout } from '../agents/timeout.ts';

/**
 * The time in milliseconds after which the lock of a killed bridge is ignored. A bridge that holds the lock refreshes it
 * every 5 s.
 */
const STALE_MS = 10_000;
/** The maximum time that a caller waits for the lock and for the work, in milliseconds. */
const MAX_WAIT_MS = 30_000;
const POLL_MS = 250;

/**
 * Runs the work while this bridge holds the lock. If the work takes too long, the caller gets an error, but the work goes
 * on and keeps the lock. So no bridge starts a second server while the first one upgrades a large journal.
 * @param work receives a signal that aborts if the lock is lost. Another bridge may take the lock while the machine
 * sleeps.
 * @param doneByOther called repeatedly while another bridge holds the lock. If it returns a result, that result is
 * returned without the lock, because the other bridge may have been killed before it could release the lock.
 * @throws ProductError AGENT_UNREACHABLE if the work, or the wait for the lock, takes too long; an error of the work or
 * of the file system
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
      const done = runThenRelease(() => work(lost.signal), release);
      return withTimeout(Math.max(0, until - performance.now()), done).catch((error: unknown) => {
        const isLate = error instanceof DOMException && error.name === 'TimeoutError';
        throw isLate ? slowStartError(stateDirectory) : error;
      });
    }
    const done = await doneByOther();
    if (done !== undefined) return done;
    if (performance.now() >= until) throw slowStartError(stateDirectory);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function runThenRelease<Result>(
  work: () => Promise<Result>,
  release: () => Promise<void>,
): Promise<Result> {
  try {
    return await work();
  } finally {
    // A lost lock cannot be released. It becomes stale by itself.
    await release().catch(() => undefined);
  }
}

function slowStartError(stateDirectory: string): ProductError {
  return new ProductError(
    'AGENT_UNREACHABLE',
    `The local A2A server has been starting for a long time, as it does after an upgrade with a large journal. Try again in half a minute. If the error stays, read ${join(stateDirectory, 'server.log')}.`,
  );
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
