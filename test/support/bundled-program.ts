/** Bundles test programs that run in their own process. */
import { afterAll } from '@jest/globals';
import { build } from 'esbuild';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

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
  const directory = join(process.cwd(), 'node_modules', '.cache', 'mcp-a2a-bridge');
  await mkdir(directory, { recursive: true });
  const outfile = join(directory, `${source.replaceAll(/\W+/g, '-')}-${process.pid}.mjs`);
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
  for (const outfile of bundled.values()) await rm(await outfile);
});
