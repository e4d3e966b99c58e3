import { statSync } from 'node:fs';
import { ProductError } from '../runtime/errors.ts';
import { fileProblem } from '../runtime/file-problem.ts';

/**
 * Returns the identity of a file, or undefined if the file does not exist.
 * @throws ProductError STORAGE if the file system reports another error
 */
export function fileIdentity(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found && `${found.dev}:${found.ino}`;
  } catch (error) {
    throw new ProductError(
      'STORAGE',
      `The file ${path} cannot be checked: ${fileProblem(error)}. Nothing was stored. Check the disk and the permissions of the directory, then try again.`,
      { facts: { path }, cause: error },
    );
  }
}

/**
 * Returns a function that must be called before each write to an open database. That function throws if the file was
 * deleted, moved or replaced: SQLite would write to the old file, and the next process would not find these commits. It
 * also throws if the file system reports another error.
 * @param names what the error message calls the database, and the program to restart
 */
export function createSameFileCheck(path: string, names: { file: string; program: string }): () => void {
  const opened = fileIdentity(path);
  return () => {
    if (fileIdentity(path) === opened) return;
    throw new ProductError(
      'STORAGE',
      `${names.file} ${path} was deleted, moved or replaced while it was in use. Nothing was stored. Move the file back, or restart ${names.program}.`,
      { facts: { path } },
    );
  };
}
