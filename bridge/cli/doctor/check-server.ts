/** Checks the local server if it runs, or otherwise the port that it would use. Starts no process. */
import { createServer } from 'node:net';
import { once } from 'node:events';
import { readConfigFile } from '../../../shared/settings/resolve-settings.ts';
import { errorCode } from '../../../shared/runtime/errors.ts';
import { compareVersions } from '../../text/compare-versions.ts';
import { readPackageVersion } from '../../../shared/runtime/version.ts';
import { OTHER_PORT_ADVICE } from '../../local-server/start-server.ts';
import { fetchServerHealth } from '../../local-server/fetch-server-health.ts';
import { checkLocalServerState, type LocalServerState } from '../../local-server/local-server-state.ts';
import type { BridgeSettings } from '../../settings/settings.ts';
import { durationText } from '../terminal/age.ts';
import { type CheckResult, checkResults } from '../../../shared/runtime/check-result.ts';
import { join } from 'node:path';
import type { ServerRecord } from '../../../shared/state/server-record.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';

const results = checkResults('local server');

/** The state of the local server. `agent` is the agent that the running server reports. */
interface LocalServer {
  finding: CheckResult;
  running: boolean;
  agent: string | undefined;
}

/**
 * Checks the local server, or the port if no server runs.
 * @param agent the agent in the settings; null if the settings cannot be read
 */
export async function checkLocalServer(
  settings: BridgeSettings,
  env: Environment,
  agent: string | null,
): Promise<LocalServer> {
  const { stateDir } = settings;
  const state = await checkLocalServerState(stateDir);
  if (state.type !== 'running')
    return { finding: await notRunningFinding(state, settings, env), running: false, agent: undefined };
  const { url, pid } = state.record;
  const health = await fetchServerHealth(state.record, stateDir);
  const finding =
    health?.journal === 'unreachable'
      ? results.fail(
          `${url}, pid ${String(pid)}, cannot write its journal, so its tasks wait`,
          `Read the cause with: mcp-a2a-bridge logs. If the disk of ${stateDir} is full, free some space.`,
        )
      : runningFinding(state.record, health?.agent, agent);
  return { finding, running: true, agent: health?.agent };
}

function runningFinding(
  { url, pid, version, startedAt }: ServerRecord,
  runs: string | undefined,
  wanted: string | null,
): CheckResult {
  const own = readPackageVersion();
  if (version !== own)
    return results.warn(
      `${url} runs version ${version}, this is ${own}`,
      nextStepForOtherVersion(version, own),
    );
  if (runs !== undefined && wanted !== null && runs !== wanted)
    return results.warn(
      `${url}, pid ${String(pid)}, runs with ${runs}, and the settings here say ${wanted}`,
      'To apply the settings, run: mcp-a2a-bridge server stop. Tasks go on with the next server.',
    );
  return results.ok(
    `${url}, pid ${String(pid)}, version ${version}, up ${durationText(Date.now() - Date.parse(startedAt))}`,
  );
}

/** Returns the next step for a server of another version. An older server cannot open the journal of a newer one. */
export function nextStepForOtherVersion(running: string, own: string): string {
  return compareVersions(own, running) < 0
    ? 'Update this program, or run the newer one. The server can stay.'
    : 'Run: mcp-a2a-bridge server stop && mcp-a2a-bridge server start. Tasks resume.';
}

async function notRunningFinding(
  state: Exclude<LocalServerState, { type: 'running' }>,
  { stateDir, configFile, autoStart }: BridgeSettings,
  env: Environment,
): Promise<CheckResult> {
  if (state.type === 'stopped') {
    const config = configFile ?? join(stateDir, 'config.json');
    const port = await chosenPort(config, configFile !== undefined, env);
    if (port !== undefined && (await isPortInUse(port)))
      return results.fail(
        `none runs, and its port ${String(port)} is taken by another program`,
        `End that program, or give the server another port: ${OTHER_PORT_ADVICE}.`,
      );
    return autoStart
      ? results.ok('none runs; it is started when it is needed')
      : results.warn('none runs, and the bridge may not start one', 'Run: mcp-a2a-bridge server start');
  }
  const { pid, url } = state.record;
  return state.type === 'closing'
    ? results.warn(
        `${url}, pid ${String(pid)}, is shutting down: it waits for a tool that runs`,
        'Try again in a moment. Its tasks go on with the next server.',
      )
    : results.fail(
        `process ${String(pid)} at ${url} does not answer as the server would: ${state.message}`,
        `Check this process. If it hangs, end it (kill ${String(pid)}); its tasks go on with the next one.`,
      );
}

/**
 * Returns the port in the server's settings. Returns undefined if there is none: the server then chooses a free port.
 * Also returns undefined for an invalid port: the server itself reports it.
 */
async function chosenPort(path: string, required: boolean, env: Environment): Promise<number | undefined> {
  const { server } = await readConfigFile(path, required);
  const port = Number(env['A2A_SERVER_PORT'] || server['port'] || 0);
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined;
}

/** Returns true if a program listens on the port. To test this, the function listens on the port for a moment. */
export async function isPortInUse(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return false;
  } catch (error) {
    return errorCode(error) === 'EADDRINUSE';
  } finally {
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  }
}
