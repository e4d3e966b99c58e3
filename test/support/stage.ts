/** A server of a test's own and a client of it. */
import { jest } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { A2aPeer } from './a2a-peer.ts';
import { startServer, type ServerOptions, type ServerProcess } from './server-process.ts';

// Processes start, work and die here, on a machine that may be busy with others. Nothing waits for this time to pass.
jest.setTimeout(60_000);

export interface Stage {
  server: ServerProcess;
  peer: A2aPeer;
  /** What a file of the workspace holds; undefined when there is none. */
  file: (name: string) => Promise<string | undefined>;
}

export async function stage(options: ServerOptions = {}): Promise<Stage> {
  return stageOf(await startServer(options));
}

/** The same with the next process on the same home; `server` must have ended. */
export async function stageAgain({ server }: Stage): Promise<Stage> {
  return stageOf(await server.again());
}

function stageOf(server: ServerProcess): Stage {
  return {
    server,
    peer: new A2aPeer(server),
    file: (name) => readFile(join(server.workspace, name), 'utf8').catch(() => undefined),
  };
}
