/** The bridge as a person runs it: the bundled program, in a process of its own, with a state directory of its own. */
import { build } from 'esbuild';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Below node_modules: the bundle loads SQLite's native driver from there. */
const CACHE = resolve('node_modules/.cache/mcp-a2a-bridge');

const BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

export interface BridgeProgram {
  /** The built main file. */
  script: string;
  /** A directory for this test file, removed at its end. */
  directory: string;
  remove(): Promise<void>;
}

/** Bundles the bridge as it is now, not as it was when somebody last ran the build. */
export async function buildBridge(): Promise<BridgeProgram> {
  const directory = await mkdtemp(join(tmpdir(), 'bridge-test-'));
  await mkdir(CACHE, { recursive: true });
  const bundle = await mkdtemp(join(CACHE, 'bridge-test-'));
  const out = join(bundle, 'dist', 'bridge');
  await build({
    entryPoints: ['bridge/main.ts'],
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['libsql'],
    banner: { js: BANNER },
    logLevel: 'warning',
  });
  return {
    script: join(out, 'main.mjs'),
    directory,
    async remove() {
      for (const each of [directory, bundle]) await rm(each, { recursive: true, force: true });
    },
  };
}

export interface BridgeStart {
  stateDir: string;
  agentUrl?: string;
  token?: string;
  args?: readonly string[];
  /** Workspaces that calls may name. By default all below the directory for temporary files: tests make theirs there. */
  workspaces?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** What to run, for any MCP client. */
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
