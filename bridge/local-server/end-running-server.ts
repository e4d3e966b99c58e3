/** Stops the local server. Its tasks resume when a server runs again. */
import { setTimeout as delay } from 'node:timers/promises';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { ServerRecord } from '../../shared/state/server-record.ts';
import { isPidInUse } from '../state/process-id.ts';

/**
 * The maximum time in milliseconds until the server has ended. A server that stops first gives its tools a grace
 * period.
 */
const STOP_TIMEOUT_MS = 30_000;
/**
 * The polling interval in milliseconds. The bridge polls because the operating system reports the end of a process only
 * to its parent.
 */
const POLL_MS = 20;

/**
 * Ends the server, and resolves when its process has ended.
 * @throws ProductError SHUTTING_DOWN if it still runs after 30 s
 */
export async function endServerProcess({ pid }: Pick<ServerRecord, 'pid'>): Promise<void> {
  process.kill(pid, 'SIGTERM');
  const until = performance.now() + STOP_TIMEOUT_MS;
  while (isPidInUse(pid)) {
    if (performance.now() > until)
      throw new ProductError(
        'SHUTTING_DOWN',
        `The server (pid ${String(pid)}) did not end within ${String(STOP_TIMEOUT_MS / 1000)} s. "mcp-a2a-bridge logs" shows its log.`,
      );
    await delay(POLL_MS);
  }
}
