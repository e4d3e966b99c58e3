import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../runtime/errors.ts';

/**
 * Creates the directory and its missing parents, one after the other. Node's recursive mkdir is not used, because it
 * never returns on a file system that reports ENOENT, such as /proc. Does nothing if the path exists, even
 * if it is a file.
 * @param mode the permission bits of each new directory, without those that the umask takes away
 */
export async function makeDirectoryWithParents(
  path: string,
  { mode = 0o777 }: { mode?: number } = {},
): Promise<void> {
  const missing: string[] = [];
  for (let at = resolve(path); !(await pathExists(at)); at = dirname(at)) missing.unshift(at);
  for (const level of missing) {
    await mkdir(level, { mode }).catch((error: unknown) => {
      // If the directory exists now, another process has just created it.
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  }
}

async function pathExists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    // Even the root may be missing, for example on a drive that does not exist. Then mkdir fails and reports the
    // problem.
    if (errorCode(error) === 'ENOENT' && dirname(path) !== path) return false;
    throw error;
  }
}
