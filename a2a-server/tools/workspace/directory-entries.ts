import { lstat, opendir, readlink } from 'node:fs/promises';
import { includesFileIdentity, type Directory } from './directory.ts';

const MAX_ENTRIES = 20_000;

export interface DirectoryEntry {
  name: string;
  kind: 'file' | 'directory' | 'link' | 'other';
  /** The path that a link contains. The server does not follow the link. */
  target?: string;
}

export interface DirectoryListing {
  entries: DirectoryEntry[];
  cut: boolean;
}

/** Returns the entries, sorted by code unit so that the order is always the same. X2: omits barred directories. */
export async function readDirectoryEntries(directory: Directory): Promise<DirectoryListing> {
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
  return info !== undefined && includesFileIdentity(directory.barred, info);
}
