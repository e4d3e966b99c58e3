/** The machine of a reader: a home directory, the programs in its path, and what runs beside them. */
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { endLocalServer } from '../end-local-server.ts';
import { UNUSED_URL } from '../fake-local-models.ts';
import { PROGRAMS } from '../shell-blocks.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import type { PlannedRun } from './planned-blocks.ts';
import { type Surrounding, SURROUNDINGS } from './surroundings.ts';

export interface ReaderHome {
  home: string;
  env: Readonly<Record<string, string>>;
  replace: Readonly<Record<string, string | RegExp>>;
  /** Resolves when each surrounding has been used. */
  used: Promise<unknown>;
}

/** The state directory below the reader's home. */
const STATE = '.local/state/mcp-a2a-bridge';

/** Starts the build as npx starts the published package. */
const NPX = `case "$1 $2 $3" in
  '-y mcp-a2a-bridge '*) shift; exec "$@" ;;
  '-y -p mcp-a2a-bridge') shift 3; exec "$@" ;;
esac
exit 64`;

/** In the documents, this code stands for the code of the reader's action. */
const CODE = { '4f2ac901': /code ([0-9a-f]{8})/ };

export async function readerHome(runs: readonly PlannedRun[]): Promise<ReaderHome> {
  const home = await temporaryDirectory();
  const names = new Set(runs.flatMap(({ around = [] }) => around));
  const around = await Promise.all([...names].map((name): Promise<Surrounding> => SURROUNDINGS[name]()));

  // The reader works in a directory like a clone.
  for (const directory of ['bin', 'tmp', 'work']) await mkdir(join(home, directory));
  const clone = runs.some((each) => each.clone === true);
  if (clone) {
    await cp('.', join(home, 'work'), { recursive: true, filter: isSource });
    // The build is newer than its sources, so no script of the reader builds again.
    await cp('dist', join(home, 'work', 'dist'), { recursive: true, filter: isOfBuild });
  }
  for (const name of clone ? ['node_modules'] : ['dist', 'examples'])
    await symlink(resolve(name), join(home, 'work', name));
  const own = Object.entries(PROGRAMS).map(
    ([name, script]) => [name, `exec '${process.execPath}' '${resolve(script)}' "$@"`] as const,
  );
  const programs = Object.assign(
    { ...Object.fromEntries(own), npx: NPX },
    ...[...around, ...runs].map((each) => each.programs),
  );
  for (const [name, script] of Object.entries(programs))
    await writeFile(join(home, 'bin', name), `#!/bin/sh\n${String(script)}\n`, { mode: 0o755 });

  await writeSettings(home, around);

  return {
    home,
    env: Object.assign(
      {
        HOME: home,
        PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`,
        TERM: 'xterm',
        NO_COLOR: '1',
        // The usual ports may be in use on this machine.
        A2A_SERVER_PORT: '0',
        npm_config_update_notifier: 'false',
      },
      ...around.map(({ env }) => env),
    ),
    replace: Object.assign({ ...CODE }, ...[...around, ...runs].map(({ replace }) => replace)),
    used: Promise.all(around.flatMap(({ used = [] }) => used)),
  };
}

/** URLs on which no program listens, because programs that serve models may really run on this machine. */
const ABSENT = { ollama: UNUSED_URL, lmstudio: UNUSED_URL, llamacpp: UNUSED_URL, vllm: UNUSED_URL };

async function writeSettings(home: string, around: readonly Surrounding[]): Promise<void> {
  const of = (part: 'baseUrls' | 'server' | 'bridge'): object =>
    Object.assign({}, ...around.map((each) => each[part]));
  const urls = of('baseUrls');
  const models = Object.keys(urls).length > 0 ? { baseUrls: { ...ABSENT, ...urls } } : {};
  const settings = { server: { ...models, ...of('server') }, bridge: of('bridge') };
  if (Object.values(settings).every((part) => Object.keys(part).length === 0)) return;
  const state = join(home, STATE);
  await mkdir(state, { recursive: true, mode: 0o700 });
  await writeFile(join(state, 'config.json'), JSON.stringify(settings), { mode: 0o600 });
}

/** True for the files of the repository, and false for those that a build or npm has written. */
function isSource(path: string): boolean {
  return !/^(\.git|dist|node_modules|release|site\/(dist|node_modules))$/.test(path);
}

const isOfBuild = (path: string): boolean => path !== 'dist/client-packages';

/** Stops the local server, if one still runs after the shell has ended. */
export async function stopLocalServer({ home }: ReaderHome): Promise<void> {
  await endLocalServer(join(home, STATE));
}
