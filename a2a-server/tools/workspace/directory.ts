/**
 * X2: opens directories so that symbolic links cannot lead outside the workspace.
 *
 * Another process may rename directories and insert symbolic links at any time. The guarantees depend on the system:
 * - Linux (`by-handle`): the server keeps the directory open and names its entries as `/proc/self/fd/N/…`, like
 *   `openat`. It does not resolve the parent path again, so a swap there has no effect. It opens entries without
 *   following a link. There is no race. (An open directory stays the same directory, even if another process moves it.)
 * - macOS (`by-path`): the server opens entries by their canonical path with O_NOFOLLOW_ANY. This flag refuses a link
 *   in any part of the path. Reading a file and creating a temporary file have no race. rename, link and mkdir resolve
 *   the path again. The server checks the directory right before, but misses a swap between these two system calls.
 * - Windows, and Linux without /proc (`by-path`): after opening a file, the server compares it with the file at the
 *   canonical path. An attacker must win three races in a row to make the server read a file from outside. The attacker
 *   swaps a directory before opening, swaps it back before the directory check, and swaps it again before the file
 *   check. rename, link and mkdir have the same race as on macOS.
 */
import { constants } from 'node:fs';
import { lstat, open, realpath, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ProductError, errorCode } from '../../../shared/runtime/errors.ts';
import type { BarredDirectory } from './barred-directory.ts';

/**
 * How the server reaches the entries of a directory. `by-handle` keeps a handle of the directory open. `by-path` compares
 * the path with the directory's identity.
 */
export type DirectoryAccess = 'by-handle' | 'by-path';

export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export interface Directory {
  readonly identity: FileIdentity;
  /** `child` refuses to open these directories. */
  readonly barred: readonly BarredDirectory[];
  /**
   * Returns the path of an entry. The system follows no link above the entry. The caller must not follow the entry
   * itself.
   */
  at(name: string): string;
  /** Opens a subdirectory. @throws ProductError OUTSIDE_WORKSPACE if another process has just replaced the entry */
  child(name: string): Promise<Directory>;
  /**
   * Opens a file without following a link, and without blocking on a named pipe.
   * @throws ProductError OUTSIDE_WORKSPACE if the file also has a name in a barred directory
   */
  file(name: string, flags: number, mode?: number): Promise<FileHandle>;
  /**
   * Checks that the directory is still the same. Must be called right before an operation on a path from `at`.
   * @throws ProductError OUTSIDE_WORKSPACE if another process has replaced the directory
   */
  confirm(): Promise<void>;
  /** Makes the directory's entries durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Returns a flag of open(2). Returns 0 if the system does not have the flag. */
function openFlag(name: string): number {
  const flags: Readonly<Record<string, number | undefined>> = { ...constants };
  return flags[name] ?? 0;
}

const NO_LINK_FLAGS = openFlag('O_NOFOLLOW') | openFlag('O_NONBLOCK');
const DIRECTORY_FLAGS = constants.O_RDONLY | openFlag('O_DIRECTORY') | NO_LINK_FLAGS;
/**
 * The flag O_NOFOLLOW_ANY from <sys/fcntl.h> of macOS 10.15 and later. Node has no constant for this flag but passes
 * the value on.
 */
const NO_LINK_ANYWHERE = process.platform === 'darwin' ? 0x2000_0000 : 0;

/**
 * Opens a directory by its canonical path.
 * @param barred directories that the server does not open, with all directories below them
 * @throws ProductError OUTSIDE_WORKSPACE if the directory is barred
 */
export async function openDirectory(
  path: string,
  access: DirectoryAccess,
  barred: readonly BarredDirectory[] = [],
): Promise<Directory> {
  return access === 'by-handle' ? openByHandle(path, barred) : openByPath(path, barred);
}

let chosen: DirectoryAccess | undefined;

/**
 * Returns `by-handle` if `/proc/self/fd` works. /proc can be missing or masked on Linux. Only the first call tests this,
 * because the result is the same for all directories of a process. If its directory cannot be opened, the next call
 * tests again.
 */
export async function chooseDirectoryAccess(path: string): Promise<DirectoryAccess> {
  chosen ??= await testDirectoryAccess(path);
  return chosen;
}

async function testDirectoryAccess(path: string): Promise<DirectoryAccess> {
  if (process.platform !== 'linux') return 'by-path';
  const directory = await openByHandle(path, []);
  try {
    const seen = await lstat(directory.at('.'), { bigint: true });
    return isSameFile(seen, directory.identity) ? 'by-handle' : 'by-path';
  } catch {
    // `by-path` does not need /proc.
    return 'by-path';
  } finally {
    await directory.close();
  }
}

async function openByHandle(path: string, barred: readonly BarredDirectory[]): Promise<Directory> {
  const handle = await openUnlinked(path, DIRECTORY_FLAGS);
  const identity = await identityOf(handle);
  if (includesFileIdentity(barred, identity)) {
    await handle.close();
    throw stateDirectoryError();
  }
  const at = (name: string) => `/proc/self/fd/${handle.fd}/${name}`;
  return {
    identity,
    barred,
    at,
    child: (name) => openByHandle(at(name), barred),
    file: async (name, flags, mode) => {
      const holders = possibleHolders(barred, flags);
      await refuseBarredFile(at(name), holders);
      return unlessBarred(await openUnlinked(at(name), flags | NO_LINK_FLAGS, mode), holders);
    },
    confirm: () => Promise.resolve(),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

async function openByPath(path: string, barred: readonly BarredDirectory[]): Promise<Directory> {
  const seen = await lstat(path, { bigint: true });
  const identity = { dev: seen.dev, ino: seen.ino };
  if (includesFileIdentity(barred, identity)) throw stateDirectoryError();
  const confirm = async () => {
    const now = await lstat(path, { bigint: true });
    if (!now.isDirectory() || !isSameFile(now, identity) || (await realpath(path)) !== path)
      throw replacedPathError();
  };
  await confirm();
  return {
    identity,
    barred,
    at: (name) => join(path, name),
    child: async (name) => {
      const child = await openByPath(join(path, name), barred);
      await confirm();
      return child;
    },
    file: async (name, flags, mode) => {
      const holders = possibleHolders(barred, flags);
      await refuseBarredFile(join(path, name), holders);
      const handle = await openUnlinked(join(path, name), flags | NO_LINK_FLAGS | NO_LINK_ANYWHERE, mode);
      try {
        await confirm();
        const named = await lstat(join(path, name), { bigint: true });
        if (!isSameFile(named, await identityOf(handle))) throw replacedPathError();
        return await unlessBarred(handle, holders);
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

/**
 * Returns the barred directories in which the file may have a second name (a hard link). With O_EXCL, opening creates
 * the file. A new file has no second name, so the list is empty.
 */
function possibleHolders(barred: readonly BarredDirectory[], flags: number): readonly BarredDirectory[] {
  return (flags & constants.O_EXCL) === 0 ? barred : [];
}

async function openUnlinked(path: string, flags: number, mode?: number): Promise<FileHandle> {
  try {
    return await open(path, flags, mode);
  } catch (error) {
    // These codes mean that another process has just replaced the directory or file with a link.
    if (errorCode(error) === 'ELOOP' || errorCode(error) === 'ENOTDIR') throw replacedPathError(error);
    throw error;
  }
}

/**
 * Refuses a hard link to a file of a barred directory before it is opened. If the server opened and closed the
 * journal's file here, SQLite would lose its locks on that file (POSIX advisory locks).
 */
async function refuseBarredFile(path: string, barred: readonly BarredDirectory[]): Promise<void> {
  if (barred.length === 0) return;
  const info = await lstat(path, { bigint: true }).catch(() => undefined);
  if (info === undefined) return;
  for (const each of barred) if (await each.holds(info)) throw stateDirectoryError();
}

/**
 * Checks again after opening, because another process may have just replaced the file.
 * @throws ProductError OUTSIDE_WORKSPACE after closing the file
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

export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

export function includesFileIdentity(some: readonly FileIdentity[], one: FileIdentity): boolean {
  return some.some((other) => isSameFile(one, other));
}

/**
 * Returns the error for the state directory. X2: it contains the server's token, which gives every right of the server.
 */
export function stateDirectoryError(): ProductError {
  return new ProductError(
    'OUTSIDE_WORKSPACE',
    "The path leads into the server's state directory, which contains its token and journal. No workspace includes it. Use another path.",
  );
}

function replacedPathError(cause?: unknown): ProductError {
  return new ProductError(
    'OUTSIDE_WORKSPACE',
    'A part of the path was replaced while it was being opened, so it may lead outside the workspace; try again.',
    { cause },
  );
}
