/**
 * X2: a directory that the file tools must not use, namely the server's state directory. Directories and files are
 * compared by device and inode. So no link, mount or other spelling gives access to them.
 */
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BigIntStats } from 'node:fs';
import { errorCode } from '../../../shared/runtime/errors.ts';
import type { FileIdentity } from './directory.ts';

export interface BarredDirectory extends FileIdentity {
  /**
   * Returns true if the file also has a name in this directory. Reads the directory only if the file has several names.
   */
  holds(file: BigIntStats): Promise<boolean>;
}

/**
 * `holds` uses the list of the directory's files for this time, in milliseconds. Package managers create many files
 * with several names, and `holds` checks each of them.
 */
const FRESH_MS = 1_000;

/** Reads the identity of a directory, so that file tools can refuse it. @throws the error of `stat` */
export async function identifyBarredDirectory(path: string): Promise<BarredDirectory> {
  const { dev, ino } = await stat(path, { bigint: true });
  let known: { at: number; files: Promise<ReadonlySet<string>> } | undefined;
  const files = (): Promise<ReadonlySet<string>> => {
    const now = performance.now();
    if (known === undefined || now - known.at > FRESH_MS) known = { at: now, files: filesIn(path) };
    return known.files;
  };
  return {
    dev,
    ino,
    holds: async (file) => file.isFile() && file.nlink > 1n && (await files()).has(nameOf(file)),
  };
}

function nameOf({ dev, ino }: FileIdentity): string {
  return `${dev}:${ino}`;
}

/**
 * Returns the identities of the files. Omits a file that disappears during the walk. Any other error refuses the
 * access.
 */
async function filesIn(path: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const entry of await opendir(path, { recursive: true })) {
    if (!entry.isFile()) continue;
    const info = await stat(join(entry.parentPath, entry.name), { bigint: true }).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (info !== undefined) found.add(nameOf(info));
  }
  return found;
}
