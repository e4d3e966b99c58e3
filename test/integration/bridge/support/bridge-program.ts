/** Provides the built bridge in its own process, with its own state directory. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface BridgeProgram {
  script: string;
  /** A directory for this test file, removed at its end. */
  directory: string;
  remove(): Promise<void>;
}

/** Returns the built bridge. Jest has built the program before the first test; see `scripts/build-if-changed.ts`. */
export async function builtBridge(): Promise<BridgeProgram> {
  const directory = await mkdtemp(join(tmpdir(), 'bridge-test-'));
  return {
    script: resolve('dist/bridge/main.js'),
    directory,
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

export interface BridgeStart {
  stateDir: string;
  agentUrl?: string;
  token?: string;
  args?: readonly string[];
  /** The workspaces that calls may name. By default the directory for temporary files, where tests create theirs. */
  workspaces?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** Returns the command line with which an MCP client starts the bridge. */
export function bridgeCommand(
  program: BridgeProgram,
  { stateDir, agentUrl, token, args = [], workspaces = [tmpdir()], env = {} }: BridgeStart,
): { command: string; args: string[]; env: Record<string, string> } {
  const allowed = workspaces.flatMap((each) => ['--allow-workspace', each]);
  const url = agentUrl === undefined ? [] : ['--agent-url', agentUrl];
  return {
    command: process.execPath,
    args: [program.script, '--state-dir', stateDir, '--log-level', 'warn', ...url, ...allowed, ...args],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: program.directory,
      ...(token === undefined ? {} : { MCP_A2A_BRIDGE_AGENT_TOKEN: token }),
      ...env,
    },
  };
}
