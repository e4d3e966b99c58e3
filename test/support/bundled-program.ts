/** Bundles test programs that run in their own process. */
import { afterAll } from '@jest/globals';
import { build, type Plugin } from 'esbuild';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const directory = join(process.cwd(), 'node_modules', '.cache', 'mcp-a2a-bridge', `programs-${process.pid}`);

/** zod has messages in 50 languages, a third of its code. The programs of the tests use only English. */
const englishZod: Plugin = {
  name: 'english-zod',
  setup(bundler) {
    bundler.onResolve({ filter: /locales\/index\.js$/ }, ({ path, importer, resolveDir }) =>
      /node_modules\/zod\//.test(importer) ? { path: join(resolveDir, dirname(path), 'en.js') } : undefined,
    );
  },
};

const bundled = new Map<string, Promise<string>>();

/**
 * Bundles the program once per test file and returns the script's path. Node 20 runs no TypeScript, and a bundle with its
 * packages starts in two thirds of the CPU time. libsql has a native library, so it stays a package. The bundle's
 * directory lets its import resolve.
 * @param source the program's path from the project's root
 */
export function bundledProgram(source: string): Promise<string> {
  const known = bundled.get(source) ?? bundle(source);
  bundled.set(source, known);
  return known;
}

async function bundle(source: string): Promise<string> {
  const outfile = join(directory, source.replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: [join(process.cwd(), source)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['libsql'],
    plugins: [englishZod],
    // Packages in CommonJS require Node's modules.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  return outfile;
}

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});
