/** Ends the local server of a state directory, as the command `server stop` does, but without a process for the command. */
import { endServerProcess } from '../../bridge/local-server/end-running-server.ts';
import { checkLocalServerState } from '../../bridge/local-server/local-server-state.ts';

export async function endLocalServer(stateDir: string): Promise<void> {
  const state = await checkLocalServerState(stateDir);
  if (state.type === 'running' || state.type === 'closing') await endServerProcess(state);
}
