/** The A2A server of a test: a process of its own with a home of its own, both gone when the test is. */
import { afterEach } from '@jest/globals';
import { rm } from 'node:fs/promises';
import {
  directoryOf,
  launchServer,
  newServerHome,
  type Launched,
  type ServerHome,
} from './server-program.ts';

export type { ServerHome } from './server-program.ts';

export interface ServerOptions {
  /** A new one if left out. */
  home?: ServerHome;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export interface ServerProcess extends ServerHome, Pick<Launched, 'log' | 'kill' | 'stop'> {
  url: string;
  token: string;
  /** A new process on the same home, with the same settings; this one must have ended. */
  again: () => Promise<ServerProcess>;
}

const homes: string[] = [];
const launched = new Set<Launched>();

afterEach(async () => {
  await Promise.all([...launched].map(({ kill }) => kill()));
  for (const home of homes.splice(0)) await rm(home, { recursive: true, force: true });
});

/** Resolves when the server says that it is ready. */
export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  const home = options.home ?? (await newHome());
  const server = launchServer({ ...options, home });
  launched.add(server);
  void server.exited.then(() => launched.delete(server));
  const { log, kill, stop } = server;
  return {
    ...home,
    ...(await server.ready),
    log,
    kill,
    stop,
    again: () => startServer({ ...options, home }),
  };
}

async function newHome(): Promise<ServerHome> {
  const home = await newServerHome();
  homes.push(directoryOf(home));
  return home;
}
