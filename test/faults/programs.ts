/** Copies the programs under test at the start of a run, because a build may replace them during the run. */
import { build, type Plugin } from 'esbuild';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** The copies are below node_modules. So the programs find their packages, and no other tool reads the copies. */
const CACHE = 'node_modules/.cache/mcp-a2a-bridge';

const BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

export interface Programs {
  server: string;
  bridge: string;
  /** Builds, at its first call, a server that dies at an append to its journal: see `programs/dying-journal.ts`. */
  dyingServer: () => Promise<string>;
  /** Builds, at its first call, a bridge that dies at a write to its database: see `programs/dying-database.ts`. */
  dyingBridge: () => Promise<string>;
  remove: () => Promise<void>;
}

export async function copyPrograms(): Promise<Programs> {
  await mkdir(CACHE, { recursive: true });
  const directory = await mkdtemp(join(resolve(CACHE), 'faults-'));
  await cp('dist', directory, { recursive: true });
  return {
    server: join(directory, 'a2a-server', 'main.js'),
    bridge: join(directory, 'bridge', 'main.js'),
    dyingServer: once(() =>
      buildDying(join(directory, 'dying-server'), 'a2a-server/main.ts', {
        importer: 'a2a-server/startup/open-journal.ts',
        imported: /\/sqlite-journal\.ts$/,
        instead: 'test/faults/programs/dying-journal.ts',
      }),
    ),
    dyingBridge: once(() =>
      buildDying(join(directory, 'dying-bridge'), 'bridge/main.ts', {
        importer: 'bridge/state/database.ts',
        imported: /\/sqlite\/driver\.ts$/,
        instead: 'test/faults/programs/dying-database.ts',
      }),
    ),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Only two parts of a run need such a build, so it waits for its first use. */
function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => (result ??= work());
}

/** One module of a program, and the module that replaces it. */
interface Exchange {
  importer: string;
  imported: RegExp;
  instead: string;
}

/** Builds the product's program with one replaced module. @returns its main file */
async function buildDying(outdir: string, entry: string, exchange: Exchange): Promise<string> {
  await build({
    entryPoints: [entry],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['libsql'],
    banner: { js: BANNER },
    plugins: [exchanging(exchange)],
    logLevel: 'warning',
  });
  return join(outdir, 'main.js');
}

const exchanging = ({ importer: where, imported, instead }: Exchange): Plugin => ({
  name: 'exchange',
  setup(bundle) {
    let exchanged = false;
    bundle.onResolve({ filter: imported }, ({ importer, path }) => {
      if (!importer.endsWith(join('/', where))) return { path: resolve(dirname(importer), path) };
      exchanged = true;
      return { path: resolve(instead) };
    });
    // Without this error, the program would run unchanged and no kill would happen.
    bundle.onEnd(() => {
      if (!exchanged) throw new Error(`${where} imports nothing that matches ${imported}`);
    });
  },
});
