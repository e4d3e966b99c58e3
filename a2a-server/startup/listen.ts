/**
 * Listens on the server's address. If another server uses the address or the state directory, the error names that
 * server.
 */
import type { Server } from 'node:http';
import type { ListenOptions } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { errorMessageOf, ProductError, errorCode } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { requestServerProof } from '../../shared/net/request-server-proof.ts';
import { AGENT_NAME } from '../http/routes/agent-card.ts';
import { readServerRecord } from '../../shared/state/server-record.ts';

const RESPONSE_LIMIT_MS = 2_000;

interface ListenAddress {
  host: string;
  port: number;
}

interface RequestedAddress extends ListenAddress {
  /**
   * True if the operator chose the port. Otherwise the server takes a free port if another program uses the default
   * port.
   */
  portChosen: boolean;
}

interface OwnServer {
  token: string;
  stateDir: string;
  log: Logger;
}

/**
 * Listens on the address and returns the port.
 * @throws ProductError CONFIGURATION, which names the owner of the address and the next step
 */
export async function listen(
  server: Server,
  { host, port, portChosen }: RequestedAddress,
  own: OwnServer,
): Promise<number> {
  try {
    await listening(server, { host, port, exclusive: true });
  } catch (error) {
    if (errorCode(error) === 'EADDRINUSE') {
      const there = await identifyListener(serverOrigin({ host, port }), own);
      if (portChosen || there.owner === 'own-server') throw taken({ host, port }, there);
      own.log.warn(
        { port, owner: there.owner },
        'another program uses the default port; listening on a free port',
      );
      return listen(server, { host, port: 0, portChosen: true }, own);
    }
    throw new ProductError(
      'CONFIGURATION',
      `The server cannot listen on ${host}:${port}: ${listenProblem(error)}. Choose another with --host and --port.`,
      { cause: error },
    );
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'this machine does not have this address',
  ENOTFOUND: 'no address has this name',
  EACCES: 'this user may not use this port',
  EADDRINUSE: 'another program uses this port',
};

/** Returns why a program cannot listen, as the end of a sentence that names the address. */
export function listenProblem(error: unknown): string {
  return LISTEN_PROBLEMS[errorCode(error) ?? ''] ?? errorMessageOf(error);
}

/** Resolves when the server listens. @throws the error of the system */
export async function listening(server: Server, address: ListenOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Converts an address to an origin for URLs. A wildcard address becomes loopback. */
export function serverOrigin({ host, port }: ListenAddress): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

interface Occupant {
  owner: 'own-server' | 'other-server' | 'other-program';
  problem: string;
  pid?: number;
}

function taken({ host, port }: ListenAddress, { problem, owner }: Occupant): ProductError {
  return new ProductError('CONFIGURATION', `Port ${port} of ${host} is taken: ${problem}`, {
    facts: { port: String(port), owner },
  });
}

const card = z.object({ name: z.literal(AGENT_NAME) });

/**
 * Returns the shell command that stops a process. On Windows the command kills the process, but the journal stays
 * correct.
 */
function stopCommand(pid: number): string {
  return process.platform === 'win32' ? `taskkill /F /PID ${pid}` : `kill ${pid}`;
}

/**
 * Returns a sentence that says where to set the model. Often, the bridge has started the other server, and the person
 * wants to change that server's model.
 */
function bridgeSettings(stateDirectory: string): string {
  return `If the bridge started it, A2A_SERVER_MODEL in the bridge's environment sets its model, or the section "server" of ${join(stateDirectory, 'config.json')}.`;
}

/** Returns the process id if this user's own server listens at the origin. */
async function findOwnServer(origin: string, token: string): Promise<number | undefined> {
  const found = await requestServerProof(origin, token, RESPONSE_LIMIT_MS);
  return found.type === 'proven' ? found.pid : undefined;
}

/** Identifies the program that listens at the origin. X1: sends no token to an unknown program. */
async function identifyListener(origin: string, { token, stateDir }: OwnServer): Promise<Occupant> {
  const pid = await findOwnServer(origin, token);
  if (pid !== undefined)
    return {
      owner: 'own-server',
      pid,
      problem: `this a2a-server is already running there (pid ${pid}, state in ${stateDir}). Use it, or end it with: ${stopCommand(pid)}. ${bridgeSettings(stateDir)} To run another server, choose another --port and --state-dir.`,
    };
  return card.safeParse(await ask(`${origin}/.well-known/agent-card.json`)).success
    ? {
        owner: 'other-server',
        problem:
          'an a2a-server with another token listens there. It belongs to another user or has another state directory. Choose another port with --port.',
      }
    : {
        owner: 'other-program',
        problem: 'another program listens there. End it, or choose another port with --port.',
      };
}

async function ask(url: string): Promise<unknown> {
  // `AbortSignal.timeout` does not keep the process alive during the request, so this function has its own timer.
  const timeLimit = new AbortController();
  const timer = setTimeout(() => timeLimit.abort(), RESPONSE_LIMIT_MS);
  try {
    const response = await fetch(url, {
      headers: { 'A2A-Version': '1.0' },
      redirect: 'error',
      signal: timeLimit.signal,
    });
    const body: unknown = response.ok ? await response.json() : undefined;
    return body;
  } catch {
    // The response is missing, or is not HTTP or not JSON. So the program is not an a2a-server.
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns the error for the person. The record in the state directory may be old. So the error names the other server
 * only if that server responds.
 */
export async function stateInUseError(
  error: ProductError,
  stateDir: string,
  token: string,
): Promise<ProductError> {
  const record = await readServerRecord(stateDir);
  const pid = record && (await findOwnServer(record.url, token));
  const who = record && pid !== undefined ? ` (pid ${pid}, at ${record.url})` : '';
  const end = pid === undefined ? 'end it first' : `end it with: ${stopCommand(pid)}`;
  return new ProductError(
    'CONFIGURATION',
    `Another a2a-server${who} already keeps its state in ${stateDir}. Use that server, or ${end}. To run a second server, choose another --state-dir.`,
    { facts: { path: stateDir }, cause: error },
  );
}
