import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { ProductError, systemErrorCode } from '../../shared/runtime/errors.ts';

/** The options of the lock. A start takes up to 20 s, and other bridges wait that long. */
const LOCK = { stale: 30_000, retries: { retries: 60, minTimeout: 100, maxTimeout: 500, randomize: true } };

/**
 * Runs the work while this bridge holds the lock.
 * @param work receives a signal that aborts if the lock is lost. Another bridge may take the lock while the machine
 * sleeps.
 * @throws ProductError AGENT_UNREACHABLE if another bridge keeps the lock; an error of the file system
 */
export async function withStartLock<Result>(
  stateDirectory: string,
  work: (lost: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const lost = new AbortController();
  const release = await lock(stateDirectory, {
    ...LOCK,
    lockfilePath: join(stateDirectory, 'server-start.lock'),
    // Without this callback, the library would throw in a timer, and the bridge would end.
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
    // A lost lock cannot be released. It becomes stale by itself.
    await release().catch(() => undefined);
  }
}
