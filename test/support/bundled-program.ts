/** Programs of the tests' own, made to run in a process of their own. */
import { afterAll } from '@jest/globals';
import { build } from 'esbuild';
import { mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

const bundled = new Map<string, Promise<string>>();

/**
 * The script that runs the program, made once and removed with the test file. Node 20 runs no TypeScript, and a bundle lies
 * where its imports of packages resolve.
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
  const outfile = join(directory, `${basename(source, '.ts')}-${process.pid}.mjs`);
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
