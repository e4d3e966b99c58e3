/**
 * Finds this user's local A2A server by its record in the state directory, or starts it. A lock ensures that all
 * bridges of the user share one server.
 */
import { setTimeout } from 'node:timers/promises';
import { errorMessageOf, ProductError, errorCode } from '../../shared/runtime/errors.ts';
import { serverRunCredential, type ServerRunIdentity } from '../../shared/net/server-proof.ts';
import { prepareStateDirectory } from '../../shared/state/state-directory.ts';
import { readOrCreateTokenFile } from '../../shared/state/token-file.ts';
import { readPackageVersion } from '../../shared/runtime/version.ts';
import type { ConnectOptions } from '../agents/connection.ts';
import { isProcessOfThisUser } from '../state/process-id.ts';
import { checkLocalServerState, type LocalServerState } from './local-server-state.ts';
import { otherVersionNote } from './other-version-note.ts';
import { withStartLock } from './start-lock.ts';
import { OTHER_PORT_ADVICE, type ServerProgram, startLocalServer } from './start-server.ts';

export interface LocalServerOptions extends ServerProgram {
  /** True if the bridge may start the server. */
  autoStart: boolean;
}

const MAX_CLOSING_MS = 15_000;
const POLL_MS = 100;

/**
 * Finds the running server, or starts one.
 * @throws ProductError; for an error of the file system, ProductError STORAGE
 */
export async function findOrStartServer(local: LocalServerOptions): Promise<ConnectOptions> {
  try {
    return await findOrStart(local);
  } catch (error) {
    // Converts the error, because callers would otherwise report it as a response that is not A2A.
    if (error instanceof ProductError || errorCode(error) === undefined) throw error;
    throw new ProductError(
      'STORAGE',
      `The local A2A server could not be found or started: ${errorMessageOf(error)}. Check that the disk of ${local.stateDir} has space, that this user may write there, and that the system can open more files and start more processes. Then try again.`,
      { cause: error },
    );
  }
}

async function findOrStart(local: LocalServerOptions): Promise<ConnectOptions> {
  const { stateDir, autoStart } = local;
  await prepareStateDirectory(stateDir);
  const token = await readOrCreateTokenFile(stateDir);
  const findRunning = (): Promise<ConnectOptions | undefined> => runningServer(stateDir, token);
  const running = await findRunning();
  if (running !== undefined) return running;
  if (!autoStart) {
    throw new ProductError(
      'AGENT_UNREACHABLE',
      `No local A2A server runs, and the bridge was told not to start one (--no-auto-start). Start it with: ${commandOf(local)}`,
    );
  }
  const start = async (lost: AbortSignal): Promise<ConnectOptions> => {
    // Another bridge may have started the server while this bridge waited for the lock. So this check is repeated.
    const started = await findRunning();
    if (started !== undefined) return started;
    try {
      const record = await startLocalServer(local);
      return endpoint(record.url, token, record);
    } catch (error) {
      // If this bridge has lost the lock, another bridge may have started a server. Two servers never share a journal,
      // so the start by this bridge then fails.
      const other = lost.aborted ? await findRunning() : undefined;
      if (other === undefined) throw error;
      return other;
    }
  };
  return withStartLock(stateDir, start, findRunning);
}

function commandOf({ script, stateDir, configFile }: LocalServerOptions): string {
  const args = [script, '--state-dir', stateDir];
  if (configFile !== undefined) args.push('--config', configFile);
  return ['node', ...args.map((each) => (/^[\w./:@=+-]+$/.test(each) ? each : JSON.stringify(each)))].join(
    ' ',
  );
}

async function runningServer(stateDirectory: string, token: string): Promise<ConnectOptions | undefined> {
  const state = await settledState(stateDirectory);
  if (state.type === 'stopped') return undefined;
  const { url, pid, version } = state.record;
  switch (state.type) {
    case 'running':
      return { ...endpoint(url, token, state.run), notice: otherVersionNote(version, readPackageVersion()) };
    case 'closing':
      throw new ProductError(
        'AGENT_UNREACHABLE',
        `The local A2A server (pid ${String(pid)}) is shutting down: it waits for a tool that runs. Try again in a moment; its tasks go on with the next server.`,
      );
    case 'strange':
      throw new ProductError(
        'AGENT_UNREACHABLE',
        `The address of the local A2A server, ${url}, does not answer as it should: ${state.message}. If the server hangs (pid ${String(pid)}), end it; if another program has its port, give the server another one: ${OTHER_PORT_ADVICE}.`,
      );
  }
}

/**
 * If the server is shutting down, waits until it has ended, but at most `MAX_CLOSING_MS`. Its tools usually end within
 * this time.
 */
async function settledState(stateDirectory: string): Promise<LocalServerState> {
  const until = performance.now() + MAX_CLOSING_MS;
  for (;;) {
    const state = await checkLocalServerState(stateDirectory);
    if (state.type !== 'closing' || performance.now() >= until) return state;
    await setTimeout(POLL_MS);
  }
}

/**
 * Returns the URL and the credential of a server. The credential is sent instead of the token. Only this run of the
 * server accepts it.
 */
function endpoint(url: string, token: string, run: ServerRunIdentity): ConnectOptions {
  return {
    url,
    headers: { authorization: `Bearer ${serverRunCredential(token, run)}` },
    isGone: () => !isProcessOfThisUser(run.pid),
  };
}
