/** One server for the tests of a file that neither configure nor end it. A server takes longer to start than to test. */
import { afterAll, afterEach } from '@jest/globals';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { homeDirectoryOf, launchServer, newServerHome, type ServerHome } from './server-program.ts';
import { stageOf, type Stage } from './stage.ts';

export interface SharedStage extends Omit<Stage, 'server'> {
  server: ServerHome & { url: string; token: string };
}

const PRINCIPALS = Array.from({ length: 100 }, (_, n) => ({
  name: `principal-${n}`,
  token: `token-of-principal-${n}-`.padEnd(32, 'x'),
}));

type Server = ServerHome & { url: string; token: string; end: () => Promise<void> };
let server: Promise<Server> | undefined;
let used = 0;

/** @returns the file's server with an empty workspace, and a client that no other test uses and that has no tasks yet */
export async function sharedStage(): Promise<SharedStage> {
  const principal = PRINCIPALS[used];
  used += 1;
  if (principal === undefined) throw new Error('a file has at most 100 stages on its server');
  server ??= start();
  const { url, stateDir, workspace } = await server;
  return stageOf({ url, stateDir, workspace, token: principal.token });
}

/**
 * @returns the file's server with an empty workspace, and a client of the local principal. The tasks of earlier tests are in
 *   its lists too, and each newer task comes before them.
 */
export async function sharedLocalStage(): Promise<SharedStage> {
  server ??= start();
  const { url, token, stateDir, workspace } = await server;
  return stageOf({ url, token, stateDir, workspace });
}

async function start(): Promise<Server> {
  const home = await newServerHome();
  const tokens = PRINCIPALS.map(({ name, token }) => `${name}=${token}`);
  const launched = launchServer({ home, env: { A2A_SERVER_TOKENS: tokens.join(',') } });
  const end = async (): Promise<void> => {
    await launched.kill();
    await rm(homeDirectoryOf(home), { recursive: true, force: true });
  };
  return { ...home, ...(await launched.ready), end };
}

afterEach(async () => {
  if (server === undefined) return;
  const { workspace } = await server;
  for (const name of await readdir(workspace)) await rm(join(workspace, name), { recursive: true });
});

afterAll(async () => (await server)?.end());
