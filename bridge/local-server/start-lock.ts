/** The lock for the start of the local A2A server: one bridge of the user starts it, and the others wait. */
import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { ProductError, systemErrorCode } from '../../shared/runtime/errors.ts';

/** The other bridges wait while one starts the server, which takes up to 20 s. */
const LOCK = { stale: 30_000, retries: { retries: 60, minTimeout: 100, maxTimeout: 500, randomize: true } };

/**
 * Runs the work while this bridge holds the lock.
 * @param work gets a signal that aborts if the lock is lost: while the machine slept, another bridge may have taken the
 * lock
 * @throws ProductError AGENT_UNREACHABLE if another bridge keeps the lock; the error of the file system
 */
export async function withStartLock<Result>(
  stateDirectory: string,
  work: (lost: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const lost = new AbortController();
  const release = await lock(stateDirectory, {
    ...LOCK,
    lockfilePath: join(stateDirectory, 'server-start.lock'),
    // Without this callback, the library throws in a timer, which ends the bridge.
    onCompromised: (error) => lost.abort(error),
  }).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'ELOCKED') throw error;
    throw new ProductError(
      'AGENT_UNREACHABLE',
      `Another bridge has been starting the local A2A server for a long time. Try again in half a minute. If the error stays, read ${join(stateDirectory, 'server.log')}.`,
      { cause: error },
    );
  });
  try {
    return await work(lost.signal);
  } finally {
    // A lost lock cannot be released. A lock without an owner becomes stale.
    await release().catch(() => undefined);
  }
}
