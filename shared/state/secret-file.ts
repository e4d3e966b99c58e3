/** Stores a secret in a file that only this user can read. */
import { readFile, stat } from 'node:fs/promises';
import { ProductError, errorCode } from '../runtime/errors.ts';
import { fileProblem } from '../runtime/file-problem.ts';
import { tryCreateFile } from './atomic-file.ts';

export interface SecretFile<Secret> {
  path: string;
  /** Names the content of the file in error messages, e.g. `token`. */
  what: string;
  /** Creates the text of a new file, with a new secret. */
  create: () => string;
  /** Reads the secret from the text of the file. Returns undefined if the text is invalid. */
  parse: (text: string) => Secret | undefined;
  /** Says what happens if the user deletes the file, e.g. `the next start creates a new one`. */
  afterDeletion: string;
}

/**
 * Reads the secret, or creates it. If several processes start at the same time, all get the same secret.
 * @throws ProductError CONFIGURATION if the file cannot be read or written, is invalid, or can be read by other users
 */
export async function obtainSecret<Secret>(file: SecretFile<Secret>): Promise<Secret> {
  try {
    const found = await readSecret(file);
    if (found !== undefined) return found;
    await tryCreateFile(file.path, file.create());
    const made = await readSecret(file);
    if (made !== undefined) return made;
  } catch (error) {
    if (error instanceof ProductError) throw error;
    throw unusableFileError(file, fileProblem(error), error);
  }
  throw unusableFileError(file, 'another program deleted it just after it was created');
}

/**
 * Reads the secret. Returns undefined if the file does not exist.
 * @throws ProductError CONFIGURATION, as `obtainSecret`
 */
export async function readStoredSecret<Secret>(file: SecretFile<Secret>): Promise<Secret | undefined> {
  try {
    return await readSecret(file);
  } catch (error) {
    throw error instanceof ProductError ? error : unusableFileError(file, fileProblem(error), error);
  }
}

async function readSecret<Secret>(file: SecretFile<Secret>): Promise<Secret | undefined> {
  let text: string;
  try {
    await refuseExposed(file);
    text = await readFile(file.path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const secret = file.parse(text);
  if (secret === undefined)
    throw unusableFileError(file, `it holds no valid ${file.what}; delete it, and ${file.afterDeletion}`);
  return secret;
}

/**
 * Throws if other users can read the file, because they could then act as this user. Does nothing on Windows, where the
 * file mode does not show who can read a file.
 */
async function refuseExposed(file: SecretFile<unknown>): Promise<void> {
  if (process.platform === 'win32') return;
  const { mode } = await stat(file.path);
  if ((mode & 0o077) !== 0)
    throw unusableFileError(
      file,
      `other users can read or change it (mode ${(mode & 0o777).toString(8)}). If another user may have read it, delete it: ${file.afterDeletion}. Otherwise run: chmod 600 ${file.path}`,
    );
}

function unusableFileError(
  { path, what }: SecretFile<unknown>,
  problem: string,
  cause?: unknown,
): ProductError {
  return new ProductError('CONFIGURATION', `The ${what} file ${path} cannot be used: ${problem}.`, {
    facts: { path },
    cause,
  });
}
