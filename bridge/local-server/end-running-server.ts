/** Stops the local server. Its tasks resume when a server runs again. */
import { setTimeout as delay } from 'node:timers/promises';
import { ProductError, errorCode } from '../../shared/runtime/errors.ts';
import { isPidInUse } from '../state/process-id.ts';

/**
 * The maximum time in milliseconds until the server has ended. Before it ends, the server gives its tools a grace
 * period.
 */
const STOP_TIMEOUT_MS = 30_000;
/**
 * The polling interval in milliseconds. The bridge polls because the operating system reports the end of a process only
 * to its parent.
 */
const POLL_MS = 20;

/**
 * Ends the server, and resolves when its process has ended. A server that is already shutting down gets no signal,
 * because a second signal ends its tools without a grace period.
 * @throws ProductError SHUTTING_DOWN if it still runs after 30 s
 */
export async function endServerProcess({
  type,
  record: { pid },
}: {
  type: 'running' | 'closing';
  record: { pid: number };
}): Promise<void> {
  if (type === 'running') sendTerminationSignal(pid);
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

function sendTerminationSignal(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    // The server has just ended.
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
