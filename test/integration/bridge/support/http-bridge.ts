/**
 * Starts the built bridge as an HTTP service without a client at stdin. Returns the addresses and secrets that a
 * client needs.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type BridgeProgram, type BridgeStart, bridgeCommand } from './bridge-program.ts';

export interface HttpBridge {
  url: string;
  token: string;
  /** The token, as a header of a request. */
  credentials: { authorization: string };
  stateDir: string;
  process: ChildProcess;
  stderr: () => string;
  /** Resolves after the log contains text that matches. */
  logged: (pattern: RegExp) => Promise<void>;
  /** @returns the exit code; null after SIGKILL */
  kill: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/** @param port 0 for a free port; a restarted bridge can name its earlier port */
export async function startHttpBridge(
  program: BridgeProgram,
  start: BridgeStart & { port?: number },
): Promise<HttpBridge> {
  const args = ['--http', String(start.port ?? 0), '--no-stdio', ...(start.args ?? [])];
  const command = bridgeCommand(program, { ...start, args });
  const child = spawn(command.command, command.args, { env: command.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = once(child, 'exit');
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await exited;
    }
    return child.exitCode;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const url = / serves MCP at (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    const token = (await readFile(join(start.stateDir, 'http-token'), 'utf8')).trim();
    return {
      url,
      token,
      credentials: { authorization: `Bearer ${token}` },
      stateDir: start.stateDir,
      process: child,
      stderr: () => stderr,
      logged: async (pattern) => {
        while (!pattern.test(stderr)) await once(child.stderr, 'data');
      },
      kill,
    };
  }
  throw new Error(`the bridge ended before it served anybody:\n${stderr}`);
}

interface HttpAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Sends one request with exactly these headers. `fetch` cannot send a chosen Host or Origin. */
export async function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<HttpAnswer> {
  const { method = 'POST', headers = {}, body } = options;
  const outgoing = request(url, { method, headers, agent: false });
  // A server may reset the connection before it has read the body. The answer has already arrived, so the error is
  // ignored.
  outgoing.on('error', () => undefined);
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('close', () => reject(new Error('no answer')));
  });
  outgoing.end(body);
  const response = await answered;
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, body: text };
}

/** The headers that an MCP client of the older revisions sends with each message. */
export const MCP_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

export const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } },
});
