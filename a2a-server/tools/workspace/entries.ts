/** Reads the entries of a directory in a fixed order, with a size limit. */
import { lstat, opendir, readlink } from 'node:fs/promises';
import { includesFile, type Directory } from './directory.ts';

/** The maximum number of entries to read from one directory. */
const MAX_ENTRIES = 20_000;

export interface DirectoryEntry {
  name: string;
  kind: 'file' | 'directory' | 'link' | 'other';
  /** The target that a link names; it is not followed. */
  target?: string;
}

export interface Entries {
  entries: DirectoryEntry[];
  /** True if the directory has more than MAX_ENTRIES entries. */
  cut: boolean;
}

/** Sorts by code unit, so that the order is always the same. Omits barred directories (X2). */
export async function readEntries(directory: Directory): Promise<Entries> {
  const entries: DirectoryEntry[] = [];
  let cut = false;
  await directory.confirm();
  for await (const found of await opendir(directory.at('.'), { bufferSize: 256 })) {
    cut = entries.length === MAX_ENTRIES;
    if (cut) break;
    const kind = found.isFile()
      ? 'file'
      : found.isDirectory()
        ? 'directory'
        : found.isSymbolicLink()
          ? 'link'
          : 'other';
    entries.push({ name: found.name, kind });
  }
  await directory.confirm();
  for (const entry of entries) {
    if (entry.kind === 'link') entry.target = await readlink(directory.at(entry.name)).catch(() => '?');
  }
  const shown = await withoutBarred(directory, entries);
  shown.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { entries: shown, cut };
}

async function withoutBarred(directory: Directory, entries: DirectoryEntry[]): Promise<DirectoryEntry[]> {
  if (directory.barred.length === 0) return entries;
  const shown: DirectoryEntry[] = [];
  for (const entry of entries) if (!(await isBarred(directory, entry))) shown.push(entry);
  return shown;
}

async function isBarred(directory: Directory, { kind, name }: DirectoryEntry): Promise<boolean> {
  if (kind !== 'directory') return false;
  // An entry that no longer exists is harmless, so it stays in the list.
  const info = await lstat(directory.at(name), { bigint: true }).catch(() => undefined);
  return info !== undefined && includesFile(directory.barred, info);
}
