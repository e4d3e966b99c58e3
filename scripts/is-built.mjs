// Tells whether the build in dist/ is newer than each of its sources.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const SOURCES = ['a2a-server', 'bridge', 'shared', 'scripts', 'package-lock.json'];
/** The last file that the build writes. */
const BUILT = 'client/types/client/index.d.ts';

/** @param target the directory of the build */
export async function isBuilt(target) {
  const built = await changedAt(join(target, BUILT)).catch(() => 0);
  const changed = await Promise.all(SOURCES.map(newest));
  return Math.max(...changed) <= built;
}

/** @returns the time of the latest change in a file or a directory tree, in ms; a removed file changes its directory */
async function newest(path) {
  const entries = await readdir(path, { recursive: true }).catch(() => []);
  return Math.max(...(await Promise.all(['', ...entries].map((entry) => changedAt(join(path, entry))))));
}

async function changedAt(path) {
  return (await stat(path)).mtimeMs;
}
