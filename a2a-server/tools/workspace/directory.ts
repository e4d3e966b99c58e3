/**
 * Opens directories so that symbolic links cannot lead outside the workspace. X2 depends on this file.
 *
 * Another process may rename directories and insert symbolic links at any time. The guarantees are:
 * - Linux (`anchored`): the server keeps the directory open and reaches its entries through `/proc/self/fd/N/…`,
 *   like `openat`. It does not resolve the parent path again, so a swap there has no effect. It opens entries without
 *   following a link. There is no race. (An open directory stays the same directory, even if it moves.)
 * - macOS (`checked`): the server opens entries by their canonical path with O_NOFOLLOW_ANY, which refuses a link in
 *   any part of the path. Reading a file and creating a temporary file have no race. rename, link and mkdir use a path
 *   again. The server checks the directory right before, but misses a swap between these two system calls.
 * - Windows, and Linux without /proc (`checked`): the server compares the opened file with the canonical path after
 *   opening. An attacker who wins three races in a row can make it read a file from outside: one swap before opening,
 *   one back before the directory check, one before the file check. Naming has the same race as on macOS.
 */
import { constants } from 'node:fs';
import { lstat, open, realpath, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { BarredDirectory } from './barred-directory.ts';
import { errorCodeOf } from './file-failure.ts';

/** How to hold a directory: by an open handle, or by its path and identity. */
export type DirectoryHold = 'anchored' | 'checked';

export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export interface Directory {
  readonly identity: FileIdentity;
  /** Directories that `child` refuses to open. */
  readonly barred: readonly BarredDirectory[];
  /** Returns the path of an entry. No link above the entry is followed; the caller must not follow the entry itself. */
  at(name: string): string;
  /** @throws ProductError OUTSIDE_WORKSPACE if another process has just replaced the entry */
  child(name: string): Promise<Directory>;
  /**
   * Opens a file without following a link, and without blocking on a named pipe.
   * @throws ProductError OUTSIDE_WORKSPACE for a file of a barred directory under another name
   */
  file(name: string, flags: number, mode?: number): Promise<FileHandle>;
  /** Call this right before an operation on a path from `at`. @throws ProductError OUTSIDE_WORKSPACE */
  confirm(): Promise<void>;
  /** Makes changes to the directory's names durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A flag of open(2); 0 on systems without it. */
function flag(name: string): number {
  const flags: Readonly<Record<string, number | undefined>> = { ...constants };
  return flags[name] ?? 0;
}

const NO_LINK = flag('O_NOFOLLOW') | flag('O_NONBLOCK');
const DIRECTORY = constants.O_RDONLY | flag('O_DIRECTORY') | NO_LINK;
/** From <sys/fcntl.h> of macOS 10.15 and later. Node has no constant for it but passes it on. */
const NO_LINK_ANYWHERE = process.platform === 'darwin' ? 0x2000_0000 : 0;

/**
 * Opens a directory by its canonical path.
 * @param barred directories that the server does not open, with all directories below them. It compares them by
 * identity, so that no link, mount or other spelling gives access.
 * @throws ProductError OUTSIDE_WORKSPACE for a barred directory
 */
export async function openDirectory(
  path: string,
  hold: DirectoryHold,
  barred: readonly BarredDirectory[] = [],
): Promise<Directory> {
  return hold === 'anchored' ? openAnchored(path, barred) : openChecked(path, barred);
}

/** Returns `anchored` if `/proc/self/fd` works: on Linux, unless /proc is missing or masked. */
export async function bestHold(path: string): Promise<DirectoryHold> {
  if (process.platform !== 'linux') return 'checked';
  const directory = await openAnchored(path, []);
  try {
    const seen = await lstat(directory.at('.'), { bigint: true });
    return sameFile(seen, directory.identity) ? 'anchored' : 'checked';
  } catch {
    // Without /proc, use `checked`, which does not need it.
    return 'checked';
  } finally {
    await directory.close();
  }
}

async function openAnchored(path: string, barred: readonly BarredDirectory[]): Promise<Directory> {
  const handle = await openUnlinked(path, DIRECTORY);
  const identity = await identityOf(handle);
  if (includesFile(barred, identity)) {
    await handle.close();
    throw stateDirectoryError();
  }
  const at = (name: string) => `/proc/self/fd/${handle.fd}/${name}`;
  return {
    identity,
    barred,
    at,
    child: (name) => openAnchored(at(name), barred),
    file: async (name, flags, mode) => {
      await refuseBarredFile(at(name), barred);
      return unlessBarred(await openUnlinked(at(name), flags | NO_LINK, mode), barred);
    },
    confirm: () => Promise.resolve(),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

async function openChecked(path: string, barred: readonly BarredDirectory[]): Promise<Directory> {
  const seen = await lstat(path, { bigint: true });
  const identity = { dev: seen.dev, ino: seen.ino };
  if (includesFile(barred, identity)) throw stateDirectoryError();
  const confirm = async () => {
    const now = await lstat(path, { bigint: true });
    if (!now.isDirectory() || !sameFile(now, identity) || (await realpath(path)) !== path) throw replaced();
  };
  await confirm();
  return {
    identity,
    barred,
    at: (name) => join(path, name),
    child: async (name) => {
      const child = await openChecked(join(path, name), barred);
      await confirm();
      return child;
    },
    file: async (name, flags, mode) => {
      await refuseBarredFile(join(path, name), barred);
      const handle = await openUnlinked(join(path, name), flags | NO_LINK | NO_LINK_ANYWHERE, mode);
      try {
        await confirm();
        const named = await lstat(join(path, name), { bigint: true });
        if (!sameFile(named, await identityOf(handle))) throw replaced();
        return await unlessBarred(handle, barred);
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
    confirm,
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

async function openUnlinked(path: string, flags: number, mode?: number): Promise<FileHandle> {
  try {
    return await open(path, flags, mode);
  } catch (error) {
    // Another process has just replaced the directory or file with a link.
    if (errorCodeOf(error) === 'ELOOP' || errorCodeOf(error) === 'ENOTDIR') throw replaced(error);
    throw error;
  }
}

/**
 * Refuses a hard link to a file of a barred directory before it is opened. Closing any descriptor of the journal drops
 * SQLite's locks on it (POSIX advisory locks).
 */
async function refuseBarredFile(path: string, barred: readonly BarredDirectory[]): Promise<void> {
  if (barred.length === 0) return;
  const info = await lstat(path, { bigint: true }).catch(() => undefined);
  if (info === undefined) return;
  for (const each of barred) if (await each.holds(info)) throw stateDirectoryError();
}

/**
 * Checks again after opening: another process may have just replaced the file.
 * @throws ProductError OUTSIDE_WORKSPACE; the file is then closed
 */
async function unlessBarred(handle: FileHandle, barred: readonly BarredDirectory[]): Promise<FileHandle> {
  try {
    if (barred.length === 0) return handle;
    const info = await handle.stat({ bigint: true });
    for (const each of barred) if (await each.holds(info)) throw stateDirectoryError();
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function identityOf(handle: FileHandle): Promise<FileIdentity> {
  const { dev, ino } = await handle.stat({ bigint: true });
  return { dev, ino };
}

export function sameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

export function includesFile(some: readonly FileIdentity[], one: FileIdentity): boolean {
  return some.some((other) => sameFile(one, other));
}

/** X2: the state directory contains the server's token, which gives every right of the server. */
export function stateDirectoryError(): ProductError {
  return new ProductError(
    'OUTSIDE_WORKSPACE',
    "The path leads into the server's state directory, which contains its token and journal. No workspace includes it. Use another path.",
  );
}

function replaced(cause?: unknown): ProductError {
  return new ProductError(
    'OUTSIDE_WORKSPACE',
    'A part of the path was replaced while it was being opened, so it may lead outside the workspace; try again.',
    { cause },
  );
}
