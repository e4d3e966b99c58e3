/** The commands `server start|stop|status`: control the local a2a-server. */
import { findOrStartServer } from '../../local-server/find-or-start-server.ts';
import { EXIT_UNAVAILABLE } from '../terminal/exit-codes.ts';
import type { CommandRun } from '../context/run-command.ts';
import { endServerProcess } from '../../local-server/end-running-server.ts';
import {
  type LocalServerState,
  checkLocalServerState,
  unverifiedServerError,
} from '../../local-server/local-server-state.ts';
import { readPackageVersion } from '../../../shared/runtime/version.ts';
import { otherVersionNote } from '../../local-server/other-version-note.ts';
import { durationText } from '../terminal/age.ts';

/**
 * Starts the local server, unless it already runs.
 * @throws ProductError CONFIGURATION with the end of the log, if the server does not start
 */
export async function startServerCommand(run: CommandRun): Promise<void> {
  const { settings, places } = run;
  const before = (await checkLocalServerState(settings.stateDir)).type === 'running';
  await findOrStartServer({ ...settings, script: places.serverScript, autoStart: true });
  printState(
    run,
    await checkLocalServerState(settings.stateDir),
    before ? 'It was running already.' : 'Started.',
  );
}

/**
 * Stops the local server. Its tasks resume when a server runs again.
 * @throws ProductError if the server does not stop, or if the program at its URL is not this user's server
 */
export async function stopServerCommand(run: CommandRun): Promise<void> {
  const { stateDir } = run.settings;
  const state = await checkLocalServerState(stateDir);
  if (state.type === 'strange') throw unverifiedServerError(state);
  if (state.type !== 'stopped') await endServerProcess(state);
  printState(
    run,
    { type: 'stopped' },
    state.type !== 'stopped'
      ? 'Stopped. Its tasks go on with the next one, which an open MCP client may start at once.'
      : 'It was not running.',
  );
}

/**
 * Prints whether the local server runs.
 * @returns EXIT_UNAVAILABLE if it does not run
 */
export async function serverStatusCommand(run: CommandRun): Promise<number> {
  const state = await checkLocalServerState(run.settings.stateDir);
  if (state.type === 'strange') throw unverifiedServerError(state);
  printState(run, state, '');
  return state.type === 'running' ? 0 : EXIT_UNAVAILABLE;
}

function printState({ terminal, settings }: CommandRun, state: LocalServerState, what: string): void {
  const { paint } = terminal;
  terminal.json(state.type === 'running' ? { running: true, ...state.record } : { running: false });
  if (what !== '') terminal.explain(what);
  if (state.type !== 'running') {
    if (state.type === 'closing')
      terminal.explain(
        `The local server (pid ${String(state.record.pid)}) is shutting down: it waits for a tool that runs. Its tasks go on with the next server.`,
      );
    else if (what === '')
      terminal.explain(
        `No local server runs for ${settings.stateDir}. "mcp-a2a-bridge server start" starts one.`,
      );
    return;
  }
  const { url, pid, version, startedAt } = state.record;
  terminal.explain(
    `${paint('green', 'running')} at ${url}, pid ${String(pid)}, version ${version}, up ${durationText(Date.now() - Date.parse(startedAt))}`,
  );
  const note = otherVersionNote(version, readPackageVersion());
  if (note !== undefined) terminal.explain(note);
}
