import { setMaxListeners } from 'node:events';
import pRetry, { type Options } from 'p-retry';
import { isDatabaseUnavailable, type QueryRunner } from './driver.ts';

/**
 * Returns a reader that waits for a connection, because a restart of the database takes seconds. After a read has failed
 * in spite of its retries, the next reads are not retried until one succeeds.
 * @param retries the retries of each read. The signal ends them.
 */
export function createRetryingReader(
  pool: QueryRunner,
  retries: Options & { signal: AbortSignal },
): QueryRunner {
  // Each read that waits for a retry adds a listener. Node would otherwise warn about too many listeners.
  setMaxListeners(Infinity, retries.signal);
  let unreachable = false;
  return {
    async query(statement, values) {
      try {
        const rows = await pRetry(async () => pool.query(statement, values), {
          ...retries,
          ...(unreachable && { retries: 0 }),
          shouldRetry: ({ error }) => isDatabaseUnavailable(error),
        });
        unreachable = false;
        return rows;
      } catch (error) {
        if (isDatabaseUnavailable(error)) unreachable = true;
        throw error;
      }
    },
  };
}
