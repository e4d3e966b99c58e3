/**
 * Gives the built programs the bytecode of the Node version that runs the tests. Another version may have built the
 * programs, and V8 refuses the bytecode of another version. Each start would then compile the code, which takes 50 %
 * more CPU time.
 *
 * The recording starts both programs with the bytecode of the build. So each run also tests that this Node refuses that
 * bytecode and works.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import buildIfChanged from './build-if-changed.ts';
import { recordCodeCache } from './record-code-cache.mjs';

const BUILD = 'dist';
const bytecodeOfBuild = new Map<string, Buffer>();

/** Jest runs this before the first test. */
export default async function recordOwnBytecode(): Promise<void> {
  await buildIfChanged();
  for (const name of await readdir(BUILD, { recursive: true })) {
    const path = join(BUILD, name);
    if (name.endsWith('.cache')) bytecodeOfBuild.set(path, await readFile(path));
  }
  await recordCodeCache(BUILD);
}

/** Writes the bytecode of the build again. */
export async function restoreBytecode(): Promise<void> {
  for (const [path, bytecode] of bytecodeOfBuild) await writeFile(path, bytecode);
}
