/** Reads the configuration file of an MCP client, makes a backup, and replaces the file atomically. */
import { chmod, copyFile, constants, readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDirectory } from '../../../shared/state/make-directory.ts';
import { replaceFile } from '../../../shared/state/atomic-file.ts';
import { errorMessageOf, ProductError, systemErrorCode } from '../../../shared/runtime/errors.ts';

export interface EditableConfigFile {
  /** The path of the file. Symbolic links are resolved, so that a write does not replace a link by a file. */
  path: string;
  /** The text of the file. '' if there is no file yet. */
  text: string;
  /** The permission bits of the file. Undefined if there is no file yet. */
  mode: number | undefined;
}

/** @throws ProductError CONFIGURATION */
export async function readEditableConfig(path: string): Promise<EditableConfigFile> {
  try {
    const real = await realpath(path);
    const [text, { mode }] = await Promise.all([readFile(real, 'utf8'), stat(real)]);
    return { path: real, text, mode: mode & 0o777 };
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return { path, text: '', mode: undefined };
    throw unusableConfigError(path, errorMessageOf(error), error);
  }
}

/**
 * Makes a backup of a configuration file, and then replaces the file atomically.
 * @param fresh the permission bits for a new file
 * @returns the path of the backup; undefined if there was no file
 * @throws ProductError CONFIGURATION if the file is not writable, or has changed since it was read
 */
export async function writeConfig(
  file: EditableConfigFile,
  text: string,
  fresh: number,
): Promise<string | undefined> {
  return replaceConfig(file, text, { fresh, backUp: file.mode !== undefined });
}

/** Like `writeConfig`, but makes a backup only if `backUp` is true. */
export async function replaceConfig(
  file: EditableConfigFile,
  text: string,
  { fresh, backUp }: { fresh: number; backUp: boolean },
): Promise<string | undefined> {
  const { path, mode } = file;
  // The user may have made the file read-only on purpose, and a rename would ignore that.
  if (mode !== undefined && (mode & 0o222) === 0)
    throw unusableConfigError(path, 'it is read-only. Make it writable (chmod u+w) first');
  try {
    if (mode === undefined) await makeDirectory(dirname(path));
    const backup = backUp ? await backedUp(path) : undefined;
    // The file is read again, because the client may have changed it meanwhile.
    if ((await readEditableConfig(path)).text !== file.text)
      throw unusableConfigError(path, 'it has changed meanwhile. Run this again');
    await replaceFile(path, text);
    await chmod(path, mode ?? fresh);
    return backup;
  } catch (error) {
    throw error instanceof ProductError
      ? error
      : unusableConfigError(path, `it cannot be written (${errorMessageOf(error)})`, error);
  }
}

async function backedUp(path: string): Promise<string> {
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
