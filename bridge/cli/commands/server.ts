/** `server start|stop|status`: controls the local a2a-server. */
import { setTimeout as delay } from 'node:timers/promises';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { ServerRecord } from '../../../shared/state/server-record.ts';
import { findServer } from '../../local-server/find-server.ts';
import { isProcess } from '../../state/process-id.ts';
import { EXIT_UNAVAILABLE } from '../terminal/exit-codes.ts';
import type { CommonOptions, CommandRun } from '../context/run-command.ts';
import { type ServerState, serverState } from '../../local-server/server-state.ts';
import { durationText } from '../terminal/age.ts';

/** A stopping server gives its tools a grace period first. In milliseconds. */
const STOP_MS = 30_000;
/** The polling interval in milliseconds. The system reports only the end of child processes, so the command polls. */
const LOOK_MS = 50;

/** @throws ProductError CONFIGURATION if the server does not start, with the end of its log */
export async function startServer(run: CommandRun<CommonOptions>): Promise<void> {
  const { settings, places } = run;
  const { stateDir: stateDirectory, configFile } = settings;
  const before = (await serverState(stateDirectory)).type === 'running';
  await findServer({ stateDirectory, script: places.serverScript, autoStart: true, configFile });
  tell(run, await serverState(stateDirectory), before ? 'It was running already.' : 'Started.');
}

/**
 * Stops the server; its tasks resume with the next one.
 * @throws ProductError if it does not stop, or does not answer as this user's server
 */
export async function stopServer(run: CommandRun<CommonOptions>): Promise<void> {
  const { stateDir } = run.settings;
  const state = await serverState(stateDir);
  if (state.type === 'strange') throw stranger(state);
  if (state.type === 'running') {
    process.kill(state.record.pid, 'SIGTERM');
    if (!(await ended(state.record)))
      throw new ProductError(
        'SHUTTING_DOWN',
        `The server (pid ${String(state.record.pid)}) did not end within ${String(STOP_MS / 1000)} s. "mcp-a2a-bridge logs" shows its log.`,
      );
  }
  tell(
    run,
    { type: 'stopped' },
    state.type === 'running' ? 'Stopped. Its tasks go on with the next one.' : 'It was not running.',
  );
}

/** @returns EXIT_UNAVAILABLE if no server runs */
export async function serverStatus(run: CommandRun<CommonOptions>): Promise<number> {
  const state = await serverState(run.settings.stateDir);
  if (state.type === 'strange') throw stranger(state);
  tell(run, state, '');
  return state.type === 'running' ? 0 : EXIT_UNAVAILABLE;
}

function tell(
  { options, terminal, settings }: CommandRun<CommonOptions>,
  state: ServerState,
  what: string,
): void {
  const { paint } = terminal;
  if (options.json === true) {
    terminal.say(
      JSON.stringify(state.type === 'running' ? { running: true, ...state.record } : { running: false }),
    );
    return;
  }
  if (what !== '') terminal.say(what);
  if (state.type !== 'running') {
    if (what === '')
      terminal.say(
        `No local server runs for ${settings.stateDir}. "mcp-a2a-bridge server start" starts one.`,
      );
    return;
  }
  const { url, pid, version, startedAt } = state.record;
  terminal.say(
    `${paint('green', 'running')} at ${url}, pid ${String(pid)}, version ${version}, up ${durationText(Date.now() - Date.parse(startedAt))}`,
  );
}

function stranger({ record, message }: Extract<ServerState, { type: 'strange' }>): ProductError {
  return new ProductError(
    'AGENT_UNREACHABLE',
    `Process ${String(record.pid)} should be the local server at ${record.url}, but does not answer like it: ${message}. Check the process, and end it yourself.`,
  );
}

async function ended({ pid }: ServerRecord): Promise<boolean> {
  const until = performance.now() + STOP_MS;
  while (isProcess(pid)) {
    if (performance.now() > until) return false;
    await delay(LOOK_MS);
  }
  return true;
}
