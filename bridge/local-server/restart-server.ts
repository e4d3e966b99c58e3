/** Restarts the local server, so that it reads its settings again. Its tasks resume. */
import type { ServerRecord } from '../../shared/state/server-record.ts';
import { prepareStateDirectory } from '../../shared/state/state-directory.ts';
import { endServerProcess } from './end-running-server.ts';
import { checkLocalServerState, unverifiedServerError } from './local-server-state.ts';
import { withStartLock } from './start-lock.ts';
import { type ServerProgram, startLocalServer } from './start-server.ts';

/**
 * Restarts the local server. If no server runs, or if it was already shutting down, starts none and returns undefined. The
 * start lock ensures that no other bridge starts a server with another environment.
 * @throws ProductError SHUTTING_DOWN if the server does not end; CONFIGURATION if the new server does not start
 */
export async function restartLocalServer(
  local: ServerProgram,
): Promise<{ before: ServerRecord; after: ServerRecord } | undefined> {
  await prepareStateDirectory(local.stateDir);
  return withStartLock(local.stateDir, async () => {
    const state = await checkLocalServerState(local.stateDir);
    if (state.type === 'strange') throw unverifiedServerError(state);
    if (state.type === 'stopped') return undefined;
    await endServerProcess(state);
    if (state.type === 'closing') return undefined;
    return { before: state.record, after: await startLocalServer(local) };
  });
}
