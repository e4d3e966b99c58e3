/** Builds the programs if a source is newer than the build. Jest runs this before the first test, and the demo at its start. */
import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SOURCES = ['a2a-server', 'bridge', 'shared', 'scripts', 'package-lock.json'];
/** The last file that the build writes. */
const BUILT = 'dist/client/types/client/index.d.ts';

export default async function freshBuild(): Promise<void> {
  const built = await changedAt(BUILT).catch(() => 0);
  const changed = await Promise.all(SOURCES.map(newest));
  if (Math.max(...changed) > built) await promisify(execFile)(process.execPath, ['scripts/build.mjs']);
}

/** @returns the time of the latest change in a file or a directory tree, in ms; a removed file changes its directory */
async function newest(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true }).catch(() => []);
  return Math.max(...(await Promise.all(['', ...entries].map((entry) => changedAt(join(path, entry))))));
}

async function changedAt(path: string): Promise<number> {
  return (await stat(path)).mtimeMs;
}
