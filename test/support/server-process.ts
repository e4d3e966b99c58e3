/**
 * Starts an A2A server process with its own directories. Both are removed after the test, or after the file if a
 * `beforeAll` started the server.
 */
import { rm } from 'node:fs/promises';
import { cleanUpLater } from './clean-up.ts';
import {
  homeDirectoryOf,
  launchServer,
  newServerHome,
  type Launched,
  type ServerHome,
} from './server-program.ts';

export type { ServerHome } from './server-program.ts';

export interface ServerOptions {
  /** Defaults to a new home. */
  home?: ServerHome;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export interface ServerProcess
  extends ServerHome, Pick<Launched, 'pid' | 'ended' | 'log' | 'logged' | 'kill' | 'stop'> {
  url: string;
  token: string;
  /** Starts a new process on the same home with the same settings. This one must have ended. */
  again: () => Promise<ServerProcess>;
}

/** Starts a server. Resolves when it is ready. */
export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  const home = options.home ?? (await newHome());
  const server = launchServer({ ...options, home });
  cleanUpLater(() => server.kill());
  const { pid, ended, log, logged, kill, stop } = server;
  return {
    ...home,
    ...(await server.ready),
    pid,
    ended,
    log,
    logged,
    kill,
    stop,
    again: () => startServer({ ...options, home }),
  };
}

async function newHome(): Promise<ServerHome> {
  const home = await newServerHome();
  cleanUpLater(() => rm(homeDirectoryOf(home), { recursive: true, force: true }));
  return home;
}
