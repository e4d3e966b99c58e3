/** Ends the local server. The next server resumes its tasks. */
import { setTimeout as delay } from 'node:timers/promises';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { ServerRecord } from '../../shared/state/server-record.ts';
import { isProcess } from '../state/process-id.ts';

/** A stopping server gives its tools a grace period first. In milliseconds. */
const STOP_MS = 30_000;
/** The polling interval in milliseconds. The system reports only the end of child processes, so the command polls. */
const LOOK_MS = 50;

/** Resolves when the process is gone. @throws ProductError SHUTTING_DOWN if it does not end within 30 s */
export async function endServer({ pid }: ServerRecord): Promise<void> {
  process.kill(pid, 'SIGTERM');
  const until = performance.now() + STOP_MS;
  while (isProcess(pid)) {
    if (performance.now() > until)
      throw new ProductError(
        'SHUTTING_DOWN',
        `The server (pid ${String(pid)}) did not end within ${String(STOP_MS / 1000)} s. "mcp-a2a-bridge logs" shows its log.`,
      );
    await delay(LOOK_MS);
  }
}
