/** Listens on the server's address. If the address is in use, the error names its owner. */
import type { Server } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import { systemErrorCode } from '../../shared/runtime/system-error.ts';
import { AGENT_NAME } from '../http/routes/agent-card.ts';

/** How long the program on this port has to answer, in milliseconds. */
const PATIENCE_MS = 2_000;

export interface ListenAddress {
  host: string;
  port: number;
}

/** @returns the port. @throws ProductError CONFIGURATION that names the owner of the address and the next step. */
export async function listen(server: Server, { host, port }: ListenAddress, token: string): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, exclusive: true }, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    if (systemErrorCode(error) === 'EADDRINUSE') throw await taken({ host, port }, token);
    throw new ProductError(
      'CONFIGURATION',
      `The server cannot listen on ${host}:${port}: ${messageOf(error)}. Choose another with --host and --port.`,
      { cause: error },
    );
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/** Returns an address as the origin of URLs. A wildcard address becomes loopback. */
export function serverOrigin({ host, port }: ListenAddress): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

async function taken(address: ListenAddress, token: string): Promise<ProductError> {
  const { problem, owner } = await whoIsThere(serverOrigin(address), token);
  return new ProductError(
    'CONFIGURATION',
    `Port ${address.port} of ${address.host} is taken: ${problem} To run another server, choose another --port and --state-dir.`,
    { facts: { port: String(address.port), owner } },
  );
}

const card = z.object({ name: z.literal(AGENT_NAME) });
const health = z.object({ pid: z.number(), stateDirectory: z.string() });

/** The shell command that stops a process. Windows only kills; the journal survives that too. */
export function stopCommand(pid: number, platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? `taskkill /F /PID ${pid}` : `kill ${pid}`;
}

/** A person who finds a server they did not start usually wants to set its model. */
function bridgeSettings(stateDirectory: string): string {
  return `Where the bridge has started it, its model is chosen by A2A_SERVER_MODEL in the bridge's environment or by the "server" section of ${join(stateDirectory, 'config.json')}.`;
}

/** Returns the process id if this user's own server answers at the origin. */
export async function findOwnServer(origin: string, token: string): Promise<number | undefined> {
  const { pid } = await whoIsThere(origin, token);
  return pid;
}

/** Identifies the program that listens at the origin. It gets the token only if it claims to be an a2a-server. */
async function whoIsThere(
  origin: string,
  token: string,
): Promise<{ problem: string; owner: string; pid?: number }> {
  const isServer = card.safeParse(await ask(`${origin}/.well-known/agent-card.json`)).success;
  if (!isServer)
    return {
      owner: 'other-program',
      problem: 'another program listens there. End it, or choose another port with --port.',
    };
  const own = health.safeParse(await ask(`${origin}/health`, token));
  return own.success
    ? {
        owner: 'own-server',
        pid: own.data.pid,
        problem: `this a2a-server is already running there (pid ${own.data.pid}, state in ${own.data.stateDirectory}). Use it, or end it with: ${stopCommand(own.data.pid)}. ${bridgeSettings(own.data.stateDirectory)}`,
      }
    : {
        owner: 'other-server',
        problem:
          'an a2a-server with another token listens there, another user’s or one with another state directory.',
      };
}

async function ask(url: string, token?: string): Promise<unknown> {
  // `AbortSignal.timeout` does not keep the process alive while the request is open. This timer does.
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), PATIENCE_MS);
  try {
    const response = await fetch(url, {
      headers: { 'A2A-Version': '1.0', ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
      redirect: 'error',
      signal: patience.signal,
    });
    const body: unknown = response.ok ? await response.json() : undefined;
    return body;
  } catch {
    // No HTTP, no JSON or no answer: this is not an a2a-server.
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
