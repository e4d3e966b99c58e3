/** Takes the server's address, and says who has it when it is taken. */
import type { Server } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import { systemErrorCode } from '../../shared/runtime/system-error.ts';
import { AGENT_NAME } from '../http/routes/agent-card.ts';

/** How long a program on our port has to say what it is, in milliseconds. */
const PATIENCE_MS = 2_000;

export interface ListenAddress {
  host: string;
  port: number;
}

/** @returns the port. @throws ProductError CONFIGURATION saying whose the address is, and what to do. */
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

/** An address as the origin of URLs. An address that means all of a machine's is reached over loopback. */
export function originOf({ host, port }: ListenAddress): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

async function taken(address: ListenAddress, token: string): Promise<ProductError> {
  const { problem, owner } = await whoIsThere(originOf(address), token);
  return new ProductError(
    'CONFIGURATION',
    `Port ${address.port} of ${address.host} is taken: ${problem} To run another server, choose another --port and --state-dir.`,
    { facts: { port: String(address.port), owner } },
  );
}

const card = z.object({ name: z.literal(AGENT_NAME) });
const health = z.object({ pid: z.number(), stateDirectory: z.string() });

/** What a person types to end a process in order; on Windows there is only at once, which the journal outlives too. */
export function endCommand(pid: number, platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? `taskkill /F /PID ${pid}` : `kill ${pid}`;
}

/** Who meets a server they did not start has mostly come to give it a model. */
function bridgeSettings(stateDirectory: string): string {
  return `Where the bridge has started it, its model is chosen by A2A_SERVER_MODEL in the bridge's environment or by the "server" section of ${join(stateDirectory, 'config.json')}.`;
}

/** The process id of this user's own server, if that is who answers at an origin. */
export async function ownServerAt(origin: string, token: string): Promise<number | undefined> {
  const { pid } = await whoIsThere(origin, token);
  return pid;
}

/** Asks whoever listens there. The token is shown only to what says it is one of ours, on this machine. */
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
        problem: `this a2a-server is already running there (pid ${own.data.pid}, state in ${own.data.stateDirectory}). Use it, or end it with: ${endCommand(own.data.pid)}. ${bridgeSettings(own.data.stateDirectory)}`,
      }
    : {
        owner: 'other-server',
        problem:
          'an a2a-server with another token listens there, another user’s or one with another state directory.',
      };
}

async function ask(url: string, token?: string): Promise<unknown> {
  // A timer that keeps the process up: `AbortSignal.timeout` would let it end while the question is open.
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
    // Not HTTP, not JSON, or silent: not one of ours.
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
