/** Starts a server for one test, with a client. */
import { jest } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { A2aPeer } from './a2a-peer.ts';
import { startServer, type ServerOptions, type ServerProcess } from './server-process.ts';

// A generous limit for tests that start processes on a busy machine. No test waits for this time.
jest.setTimeout(60_000);

export interface Stage {
  server: ServerProcess;
  peer: A2aPeer;
  /** @returns the content of a file in the workspace; undefined if the file does not exist */
  file: (name: string) => Promise<string | undefined>;
}

export async function stage(options: ServerOptions = {}): Promise<Stage> {
  return stageOf(await startServer(options));
}

/** Starts the next server process on the same home. `server` must have ended. */
export async function stageAgain({ server }: Stage): Promise<Stage> {
  return stageOf(await server.again());
}

/** @param server a running server and the token of the client */
export function stageOf<Server extends { url: string; token: string; workspace: string }>(
  server: Server,
): Omit<Stage, 'server'> & { server: Server } {
  return {
    server,
    peer: new A2aPeer(server),
    file: (name) => readFile(join(server.workspace, name), 'utf8').catch(() => undefined),
  };
}
