/** The A2A server as people run it: the built program in a process of its own, with a home of its own. */
import { afterEach } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const PROGRAM = join(process.cwd(), 'dist', 'a2a-server', 'main.js');

/** What outlives a server: its state directory, and the workspace of its tasks. */
export interface ServerHome {
  stateDir: string;
  workspace: string;
}

export interface ServerOptions {
  /** A new one if left out. */
  home?: ServerHome;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export interface ServerProcess extends ServerHome {
  url: string;
  token: string;
  /** What it has logged. */
  log: () => string;
  /** SIGKILL. Resolves when nothing of the process is left. */
  kill: () => Promise<void>;
  /** SIGTERM. @returns the exit code. */
  stop: () => Promise<number | null>;
  /** A new process on the same home, with the same settings; this one must have ended. */
  again: () => Promise<ServerProcess>;
}

const homes: string[] = [];
const children = new Set<ChildProcess>();

afterEach(async () => {
  await Promise.all([...children].map(killed));
  for (const home of homes.splice(0)) await rm(home, { recursive: true, force: true });
});

/** Resolves when the server says that it is ready. */
export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not there: npm run build makes it`);
  const home = options.home ?? (await newHome());
  const { stateDir, workspace } = home;
  const args = ['--port', '0', '--state-dir', stateDir, '--workspace', workspace, ...(options.args ?? [])];
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: workspace,
    // Nothing of the surroundings but what any program needs.
    env: { PATH: process.env['PATH'], HOME: stateDir, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  const exited = once(child, 'exit').then(() => children.delete(child));
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const url = await addressOf(child.stdout);
  if (url === undefined) throw new Error(`the server ended before it was ready:\n${log}`);
  return {
    ...home,
    url,
    token: (await readFile(join(stateDir, 'token'), 'utf8')).trim(),
    log: () => log,
    kill: () => killed(child),
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
      return child.exitCode;
    },
    again: () => startServer({ ...options, home }),
  };
}

async function newHome(): Promise<ServerHome> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'mcp-a2a-bridge-')));
  homes.push(home);
  const [stateDir, workspace] = [join(home, 'state'), join(home, 'workspace')];
  for (const directory of [stateDir, workspace]) await mkdir(directory, { mode: 0o700 });
  return { stateDir, workspace };
}

async function addressOf(stdout: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input: stdout })) {
    const url = / is ready at (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  return undefined;
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
