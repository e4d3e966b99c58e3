/**
 * A directory that was opened once and stays the same one: the ground on which X2 stands.
 *
 * What is guaranteed while another process renames directories and swaps in symbolic links
 * - Linux (`anchored`): the directory is held open and its entries are reached through `/proc/self/fd/N/…`, which is
 *   what `openat` does. No path above it is looked up again, so no swap above it matters; its own entries are opened
 *   without following a link. No window is left. (A directory that is *moved* out while it is held is still that
 *   directory, as it would be for a write that had come a moment earlier.)
 * - macOS (`checked`): entries are opened by their canonical path with O_NOFOLLOW_ANY, which refuses a link in *any*
 *   part of it: reading, and creating the new file of a write, leave no window. Naming it (rename, link, mkdir) takes
 *   a path again; it is preceded by a check that the path still leads to the same directory, and a swap between
 *   those two system calls is not noticed.
 * - Windows, and Linux without /proc (`checked`): the file that was opened is compared with what the canonical path
 *   leads to after opening. A path that is swapped before the opening, back for the check of the directory and swapped
 *   again for that of the file gets by: content from outside can be read by somebody who wins three races in a row. The
 *   window before naming is as on macOS.
 */
import { constants } from 'node:fs';
import { lstat, open, realpath, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ProductError } from '../../../shared/errors.ts';
import { codeOf } from './file-failure.ts';

/** How a directory is held: by an open handle, or by its path and identity. */
export type Hold = 'anchored' | 'checked';

export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export interface Directory {
  readonly identity: Identity;
  /** What `child` refuses to enter. */
  readonly barred: readonly Identity[];
  /** The path that reaches an entry. Links are not followed above the entry; whoever opens it must not follow it either. */
  at(name: string): string;
  /** @throws ProductError OUTSIDE_WORKSPACE when the entry has just become something else. */
  child(name: string): Promise<Directory>;
  /** Opens a file without following a link and without waiting for the other end of a pipe. */
  file(name: string, flags: number, mode?: number): Promise<FileHandle>;
  /** To be called right before an entry is named by `at`. @throws ProductError OUTSIDE_WORKSPACE */
  confirm(): Promise<void>;
  /** Makes the names in the directory durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A flag of open(2) that not every system has. */
function flag(name: string): number {
  const flags: Readonly<Record<string, number | undefined>> = { ...constants };
  return flags[name] ?? 0;
}

const NO_LINK = flag('O_NOFOLLOW') | flag('O_NONBLOCK');
const DIRECTORY = constants.O_RDONLY | flag('O_DIRECTORY') | NO_LINK;
/** <sys/fcntl.h> of macOS 10.15 and later; Node passes it on without naming it. */
const NO_LINK_ANYWHERE = process.platform === 'darwin' ? 0x2000_0000 : 0;

/**
 * Opens a directory by its canonical path.
 * @param barred directories that are not entered, neither this one nor any below it. Told by identity, not by name, so
 * that no link, mount or other spelling leads into them.
 * @throws ProductError OUTSIDE_WORKSPACE for a barred one
 */
export async function openDirectory(
  path: string,
  hold: Hold,
  barred: readonly Identity[] = [],
): Promise<Directory> {
  return hold === 'anchored' ? openAnchored(path, barred) : openChecked(path, barred);
}

/** Whether `/proc/self/fd` leads where it says: on Linux, unless /proc is missing or masked. */
export async function bestHold(path: string): Promise<Hold> {
  if (process.platform !== 'linux') return 'checked';
  const directory = await openAnchored(path, []);
  try {
    const seen = await lstat(directory.at('.'), { bigint: true });
    return sameFile(seen, directory.identity) ? 'anchored' : 'checked';
  } catch {
    // No /proc here: the other way to hold a directory needs none.
    return 'checked';
  } finally {
    await directory.close();
  }
}

async function openAnchored(path: string, barred: readonly Identity[]): Promise<Directory> {
  const handle = await openUnlinked(path, DIRECTORY);
  const identity = await identityOf(handle);
  if (isAmong(barred, identity)) {
    await handle.close();
    throw serversOwn();
  }
  const at = (name: string) => `/proc/self/fd/${handle.fd}/${name}`;
  return {
    identity,
    barred,
    at,
    child: (name) => openAnchored(at(name), barred),
    file: (name, flags, mode) => openUnlinked(at(name), flags | NO_LINK, mode),
    confirm: () => Promise.resolve(),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

async function openChecked(path: string, barred: readonly Identity[]): Promise<Directory> {
  const seen = await lstat(path, { bigint: true });
  const identity = { dev: seen.dev, ino: seen.ino };
  if (isAmong(barred, identity)) throw serversOwn();
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
      const handle = await openUnlinked(join(path, name), flags | NO_LINK | NO_LINK_ANYWHERE, mode);
      try {
        await confirm();
        const named = await lstat(join(path, name), { bigint: true });
        if (!sameFile(named, await identityOf(handle))) throw replaced();
        return handle;
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
    // What was seen as a directory or a file a moment ago is a link now.
    if (codeOf(error) === 'ELOOP' || codeOf(error) === 'ENOTDIR') throw replaced(error);
    throw error;
  }
}

async function identityOf(handle: FileHandle): Promise<Identity> {
  const { dev, ino } = await handle.stat({ bigint: true });
  return { dev, ino };
}

export function sameFile(one: Identity, other: Identity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

export function isAmong(some: readonly Identity[], one: Identity): boolean {
  return some.some((other) => sameFile(one, other));
}

/** X2: who reads the state directory has the server's token, and with it every right of the server. */
export function serversOwn(): ProductError {
  return new ProductError(
    'OUTSIDE_WORKSPACE',
    'The path leads into the directory where the server keeps its own state, its token and its journal. That is outside of every workspace; work elsewhere.',
  );
}

function replaced(cause?: unknown): ProductError {
  return new ProductError(
    'OUTSIDE_WORKSPACE',
    'A part of the path was replaced while it was being opened, so it may lead outside the workspace; try again.',
    { cause },
  );
}
