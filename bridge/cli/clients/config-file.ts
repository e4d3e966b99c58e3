/** Reads the configuration file of an MCP client, makes a backup, and replaces the file atomically. */
import { isUtf8 } from 'node:buffer';
import { copyFile, constants, lstat, readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { lock } from 'proper-lockfile';
import { makeDirectoryWithParents } from '../../../shared/state/make-directory-with-parents.ts';
import { replaceFile } from '../../../shared/state/atomic-file.ts';
import { ProductError, errorCode } from '../../../shared/runtime/errors.ts';
import { fileProblem } from '../../../shared/runtime/file-problem.ts';

export interface EditableConfigFile {
  /** The path of the file. Symbolic links are resolved, so that a write does not replace a link by a file. */
  path: string;
  /** The text of the file. '' if there is no file yet. */
  text: string;
  /** The permission bits of the file. Undefined if there is no file yet. */
  mode: number | undefined;
}

/** The options of the lock beside the file. A killed command leaves its lock behind, which is ignored after 10 s. */
const LOCK = {
  realpath: false,
  stale: 10_000,
  retries: { retries: 40, minTimeout: 50, maxTimeout: 500 },
  // Called if the lock is lost. Without this callback, the library would throw in a timer.
  onCompromised: () => undefined,
};

/**
 * Reads a configuration file that the bridge wants to change.
 * @throws ProductError CONFIGURATION if the file cannot be read, or if a write could damage it
 */
export async function readEditableConfig(path: string): Promise<EditableConfigFile> {
  const real = await realPathOf(path);
  if (real === undefined) return { path, text: '', mode: undefined };
  try {
    const found = await stat(real);
    // A pipe is refused, because reading it would wait for a writer.
    if (!found.isFile()) throw unusableConfigError(path, 'it is not a file');
    const bytes = await readFile(real);
    // A letter in another encoding would become U+FFFD, also in parts of the file that do not change.
    if (!isUtf8(bytes)) throw unusableConfigError(path, 'it is not UTF-8. Save it as UTF-8 first');
    return { path: real, text: bytes.toString('utf8'), mode: found.mode & 0o777 };
  } catch (error) {
    throw error instanceof ProductError ? error : unusableConfigError(path, fileProblem(error), error);
  }
}

/**
 * Returns the path without symbolic links. Returns undefined if there is no file.
 * @throws ProductError CONFIGURATION for a link to a file that does not exist: a write would replace the link
 */
async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw unusableConfigError(path, fileProblem(error), error);
    const link = await lstat(path).catch(() => undefined);
    if (link === undefined) return undefined;
    throw unusableConfigError(path, 'it is a link to a file that does not exist', error);
  }
}

/**
 * Makes a backup of a configuration file, and then replaces the file atomically.
 * @param fresh the permission bits for a new file
 * @param backUp false to make no backup
 * @returns the path of the backup; undefined if there was no file
 * @throws ProductError CONFIGURATION if the file is not writable, or has changed since it was read
 */
export async function writeConfig(
  file: EditableConfigFile,
  text: string,
  { fresh, backUp = true }: { fresh: number; backUp?: boolean },
): Promise<string | undefined> {
  const { path, mode } = file;
  // The user may have made the file read-only on purpose, and a rename would ignore that.
  if (mode !== undefined && (mode & 0o222) === 0)
    throw unusableConfigError(path, 'it is read-only. Make it writable (chmod u+w) first');
  try {
    if (mode === undefined) await makeDirectoryWithParents(dirname(path));
    // Another command of the bridge may change the file at the same time.
    const release = await lock(path, LOCK);
    try {
      await requireUnchanged(file);
      const backup = backUp && mode !== undefined ? await createBackup(path) : undefined;
      await replaceFile(path, text, { mode: mode ?? fresh, check: () => requireUnchanged(file) });
      return backup;
    } finally {
      await release().catch(() => undefined);
    }
  } catch (error) {
    throw error instanceof ProductError
      ? error
      : unusableConfigError(path, `it cannot be written (${fileProblem(error)})`, error);
  }
}

/**
 * Throws if the file has changed since it was read. The lock does not exclude the MCP client, which takes no lock.
 * @throws ProductError CONFIGURATION
 */
async function requireUnchanged({ path, text }: EditableConfigFile): Promise<void> {
  if ((await readEditableConfig(path)).text !== text)
    throw unusableConfigError(path, 'it has changed meanwhile. Run this again');
}

async function createBackup(path: string): Promise<string> {
  const at = new Date().toISOString().replaceAll(/[-:]/g, '').replace('.', '-');
  const backup = `${path}.${at}.bak`;
  await copyFile(path, backup, constants.COPYFILE_EXCL);
  return backup;
}

export function unusableConfigError(path: string, problem: string, cause?: unknown): ProductError {
  return new ProductError('CONFIGURATION', `${path} was left as it is: ${problem}.`, {
    facts: { path },
    cause,
  });
}
