/** Stops the local server. Its tasks resume when a server runs again. */
import { setTimeout as delay } from 'node:timers/promises';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { ServerRecord } from '../../shared/state/server-record.ts';
import { isPidInUse } from '../state/process-id.ts';

/**
 * The time limit for the stop of the server, in milliseconds. A stopping server first gives its tools a grace period.
 */
const STOP_MS = 30_000;
/**
 * The polling interval in milliseconds. The operating system reports an exit only to the parent process, so the bridge
 * polls.
 */
const LOOK_MS = 50;

/** Resolves when the process has ended. @throws ProductError SHUTTING_DOWN if it still runs after 30 s */
export async function endServer({ pid }: ServerRecord): Promise<void> {
  process.kill(pid, 'SIGTERM');
  const until = performance.now() + STOP_MS;
  while (isPidInUse(pid)) {
    if (performance.now() > until)
      throw new ProductError(
        'SHUTTING_DOWN',
        `The server (pid ${String(pid)}) did not end within ${String(STOP_MS / 1000)} s. "mcp-a2a-bridge logs" shows its log.`,
      );
    await delay(LOOK_MS);
  }
}
