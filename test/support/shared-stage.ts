/**
 * One server for the tests of a file that need the same settings and do not end it. A server takes longer to start than
 * to test.
 */
import { afterAll, afterEach } from '@jest/globals';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { homeDirectoryOf, launchServer, newServerHome, type ServerHome } from './server-program.ts';
import { stageOf, type Stage } from './stage.ts';

export interface SharedStage extends Omit<Stage, 'server'> {
  server: ServerHome & { url: string; token: string };
}

export interface PrincipalStage extends SharedStage {
  /** The name of the client's principal. */
  principal: string;
}

const PRINCIPALS = Array.from({ length: 100 }, (_, n) => ({
  name: `principal-${n}`,
  token: `token-of-principal-${n}-`.padEnd(32, 'x'),
}));

type Server = ServerHome & { url: string; token: string; end: () => Promise<void> };
let server: Promise<Server> | undefined;
let used = 0;

/**
 * @param settings the settings of the file's server. All tests of a file give the same.
 * @returns the file's server with an empty workspace, and a client with a principal that no other test uses
 */
export async function sharedStage(settings: object = {}): Promise<PrincipalStage> {
  const principal = PRINCIPALS[used];
  used += 1;
  if (principal === undefined) throw new Error('a file has at most 100 stages on its server');
  server ??= start(settings);
  const { url, stateDir, workspace } = await server;
  const { name, token } = principal;
  return { ...stageOf({ url, stateDir, workspace, token }), principal: name };
}

/**
 * @returns the file's server with an empty workspace, and a client of the local principal. Its lists contain the tasks of
 * earlier tests too, after the newer ones.
 */
export async function sharedLocalStage(): Promise<SharedStage> {
  server ??= start({});
  const { url, token, stateDir, workspace } = await server;
  return stageOf({ url, token, stateDir, workspace });
}

async function start(settings: object): Promise<Server> {
  const home = await newServerHome();
  const tokens = PRINCIPALS.map(({ name, token }) => `${name}=${token}`);
  // The commands of the program read the same settings from the state directory.
  const file = JSON.stringify({ server: { ...settings, tokens } });
  await writeFile(join(home.stateDir, 'config.json'), file, { mode: 0o600 });
  const launched = launchServer({ home });
  const end = async (): Promise<void> => {
    await launched.kill();
    await rm(homeDirectoryOf(home), { recursive: true, force: true });
  };
  return { ...home, ...(await launched.ready), end };
}

afterEach(async () => {
  if (server === undefined) return;
  const { workspace } = await server;
  for (const name of await readdir(workspace))
    await rm(join(workspace, name), { recursive: true, force: true });
});

afterAll(async () => (await server)?.end());
