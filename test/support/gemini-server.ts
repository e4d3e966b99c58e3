/**
 * Starts the real a2a-server of gemini-cli for a test, with a fake model endpoint instead of Google's. It is no
 * dependency of the project: `GEMINI_A2A_SERVER` names its package directory or its `a2a-server.mjs`.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';

export const GEMINI_SERVER = process.env['GEMINI_A2A_SERVER'];

/** The server always listens on every interface. This preload restricts it to loopback. */
const LOOPBACK_ONLY = `
import { Server } from 'node:net';
const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, { port: Number(port), host: '127.0.0.1' }, ...rest);
};`;

interface GeminiServerOptions {
  /** The URL of the fake model endpoint, which replaces the Gemini API. */
  modelUrl: string;
  /** The agent's home directory is created in this directory. */
  directory: string;
  workspace: string;
}

interface GeminiServer {
  url: string;
  stop(): Promise<void>;
}

/** Resolves when the server listens. @throws Error with its output if it ends before */
export async function startGeminiServer({
  modelUrl,
  directory,
  workspace,
}: GeminiServerOptions): Promise<GeminiServer> {
  const home = join(directory, 'gemini-home');
  await mkdir(home, { recursive: true });
  // The server's checkpoints are Git commits. Without a Git identity, the server fails every task that uses a tool.
  await writeFile(join(home, '.gitconfig'), '[user]\n\tname = Test\n\temail = test@example.com\n');
  const child = spawn(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(LOOPBACK_ONLY)}`,
      await scriptAt(GEMINI_SERVER ?? ''),
    ],
    {
      cwd: workspace,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        NO_COLOR: '1',
        GEMINI_API_KEY: 'of-a-test',
        GOOGLE_GEMINI_BASE_URL: modelUrl,
      },
    },
  );
  return {
    url: await listening(child),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function scriptAt(place: string): Promise<string> {
  const path = resolve(place);
  return (await stat(path)).isDirectory() ? join(path, 'dist', 'a2a-server.mjs') : path;
}

async function listening(child: ChildProcessByStdio<null, Readable, Readable>): Promise<string> {
  let output = '';
  return new Promise((found, failed) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const port = /Agent Server started on http:\/\/localhost:(\d+)/.exec(output)?.[1];
      if (port !== undefined) found(`http://127.0.0.1:${port}/`);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', failed);
    child.once('exit', () => failed(new Error(`gemini-cli's a2a-server ended:\n${output}`)));
  });
}
