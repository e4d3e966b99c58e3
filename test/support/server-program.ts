/** Starts the built A2A server in its own process. The caller must stop it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

export const PROGRAM = join(process.cwd(), 'dist', 'a2a-server', 'main.js');

/** The directories that outlive a server: its state directory and the workspace of its tasks. */
export interface ServerHome {
  stateDir: string;
  workspace: string;
}

interface LaunchOptions {
  home: ServerHome;
  /** The built main file; defaults to this checkout's. */
  program?: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** A server process. The server may not be ready yet. */
export interface Launched {
  /** Resolves when the server reports that it is ready. @throws if it exits before */
  ready: Promise<{ url: string; token: string }>;
  pid: number;
  /** Resolves when the process is gone. */
  exited: Promise<void>;
  /** Resolves when the process has ended by itself. @returns the exit code */
  ended: () => Promise<number | null>;
  /** The server's log output. */
  log: () => string;
  /** Resolves when the server's log contains text that matches. */
  logged: (pattern: RegExp) => Promise<void>;
  /** Sends SIGKILL. Resolves when the process is gone. */
  kill: () => Promise<void>;
  /** Sends SIGTERM. @returns the exit code */
  stop: () => Promise<number | null>;
}

export function launchServer({ home, program = PROGRAM, args = [], env }: LaunchOptions): Launched {
  if (!existsSync(program)) throw new Error(`${program} is not there: npm run build makes it`);
  const { stateDir, workspace } = home;
  const all = ['--port', '0', '--state-dir', stateDir, '--workspace', workspace, ...args];
  const child = spawn(process.execPath, [program, ...all], {
    cwd: workspace,
    // Pass only variables that every program needs.
    env: { PATH: process.env['PATH'], HOME: stateDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit').then(() => undefined);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const ready = async (): Promise<{ url: string; token: string }> => {
    const url = await addressOf(child.stdout);
    if (url === undefined) throw new Error(`the server ended before it was ready:\n${log}`);
    return { url, token: (await readFile(join(stateDir, 'token'), 'utf8')).trim() };
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await exited;
  };
  if (child.pid === undefined) throw new Error('the server could not be started');
  return {
    pid: child.pid,
    ready: ready(),
    exited,
    ended: async () => {
      await exited;
      return child.exitCode;
    },
    log: () => log,
    logged: async (pattern) => {
      while (!pattern.test(log)) await once(child.stderr, 'data');
    },
    kill: () => end('SIGKILL'),
    stop: async () => {
      await end('SIGTERM');
      return child.exitCode;
    },
  };
}

/**
 * Creates directories for a server below the system's temporary directory. The caller removes `dirname(stateDir)`.
 */
export async function newServerHome(): Promise<ServerHome> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'mcp-a2a-bridge-')));
  const [stateDir, workspace] = [join(home, 'state'), join(home, 'workspace')];
  for (const directory of [stateDir, workspace]) await mkdir(directory, { mode: 0o700 });
  return { stateDir, workspace };
}

export function homeDirectoryOf({ stateDir }: ServerHome): string {
  return dirname(stateDir);
}

async function addressOf(stdout: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input: stdout })) {
    const url = / is ready at (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  return undefined;
}
