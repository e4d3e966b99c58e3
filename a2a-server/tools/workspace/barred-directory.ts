/**
 * A directory that the file tools must not use: the server's state directory (X2). The check compares the directory and
 * its files by device and inode. So no link, mount, hard link or other spelling gives access to them.
 */
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BigIntStats } from 'node:fs';
import type { FileIdentity } from './directory.ts';

export interface BarredDirectory extends FileIdentity {
  /** True if the file also has a name in this directory. Reads the directory only for a file with several names. */
  holds(file: BigIntStats): Promise<boolean>;
}

/** The cache time of the file identities, in milliseconds. A cache helps, because package managers link many files. */
const FRESH_MS = 1_000;

/** @throws the error of `stat` */
export async function barDirectory(path: string): Promise<BarredDirectory> {
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

/** Returns the identities of the files. Omits a file that disappears meanwhile. Any other error refuses the access. */
async function filesIn(path: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const entry of await opendir(path, { recursive: true })) {
    if (!entry.isFile()) continue;
    const info = await stat(join(entry.parentPath, entry.name), { bigint: true }).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (info !== undefined) found.add(nameOf(info));
  }
  return found;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
