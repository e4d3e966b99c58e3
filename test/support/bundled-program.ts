/** Bundles test programs that run in their own process. */
import { afterAll } from '@jest/globals';
import { build } from 'esbuild';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

const directory = join(process.cwd(), 'node_modules', '.cache', 'mcp-a2a-bridge', `programs-${process.pid}`);

const bundled = new Map<string, Promise<string>>();

/**
 * Bundles the program once per test file and returns the script's path. Node 20 runs no TypeScript. The bundle's
 * directory lets its package imports resolve.
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
    packages: 'external',
    logLevel: 'error',
  });
  return outfile;
}

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});
