/** What a directory holds, in a fixed order and within bounds. */
import { opendir, readlink } from 'node:fs/promises';
import type { Directory } from './directory.ts';

/** More names than this in one directory are not looked at. */
export const MAX_ENTRIES = 20_000;

export interface Entry {
  name: string;
  kind: 'file' | 'directory' | 'link' | 'other';
  /** What a link says, wherever that may be; it is not followed. */
  target?: string;
}

export interface Entries {
  entries: Entry[];
  /** There were more than MAX_ENTRIES. */
  cut: boolean;
}

/** Sorted by code unit, so that the same directory always reads the same. */
export async function readEntries(directory: Directory): Promise<Entries> {
  const entries: Entry[] = [];
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
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { entries, cut };
}
