/** The programs under test, as they are when a run begins: somebody may build new ones meanwhile. */
import { build, type Plugin } from 'esbuild';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Below node_modules, so that packages are found from there, and nothing else sees it. */
const CACHE = 'node_modules/.cache/mcp-a2a-bridge';

const BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

export interface Programs {
  server: string;
  bridge: string;
  /** The server, dying at a journal append: see `programs/dying-journal.ts`. */
  dyingServer: () => Promise<string>;
  remove: () => Promise<void>;
}

export async function copyPrograms(): Promise<Programs> {
  await mkdir(CACHE, { recursive: true });
  const directory = await mkdtemp(join(resolve(CACHE), 'faults-'));
  await cp('dist', directory, { recursive: true });
  let dying: Promise<string> | undefined;
  return {
    server: join(directory, 'a2a-server', 'main.js'),
    bridge: join(directory, 'bridge', 'main.js'),
    dyingServer: () => (dying ??= buildDyingServer(join(directory, 'dying'))),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** The product's own program, but for the journal that `serve.ts` opens. */
async function buildDyingServer(outdir: string): Promise<string> {
  await build({
    entryPoints: ['a2a-server/main.ts'],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['libsql'],
    banner: { js: BANNER },
    plugins: [dyingJournal],
    logLevel: 'warning',
  });
  return join(outdir, 'main.js');
}

const dyingJournal: Plugin = {
  name: 'dying-journal',
  setup(bundle) {
    bundle.onResolve({ filter: /\/sqlite-journal\.ts$/ }, ({ importer, path }) =>
      importer.endsWith(join('a2a-server', 'serve.ts'))
        ? { path: resolve('test/faults/programs/dying-journal.ts') }
        : { path: resolve(dirname(importer), path) },
    );
  },
};
