/**
 * The state directory of this user. It contains the journal, the token, the URL of the running server, and the bridge's
 * database.
 */
import { access, constants, mkdtemp, rmdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { errorMessageOf, ProductError, errorCode } from '../runtime/errors.ts';
import type { Environment } from '../runtime/environment.ts';
import { makeDirectoryWithParents } from './make-directory-with-parents.ts';

const NAME = 'mcp-a2a-bridge';

export const STATE_DIRECTORY_VARIABLE = 'MCP_A2A_BRIDGE_HOME';

interface HostEnvironment {
  env: Environment;
  platform: NodeJS.Platform;
  home: string;
}

export const hostEnvironment = (): HostEnvironment => ({
  env: process.env,
  platform: process.platform,
  home: homedir(),
});

/**
 * Returns the path of the state directory: `MCP_A2A_BRIDGE_HOME`, or the platform's directory for program state. A
 * relative `XDG_STATE_HOME` is ignored, because the XDG Base Directory Specification calls it invalid.
 */
export function stateDirectory({ env, platform, home }: HostEnvironment = hostEnvironment()): string {
  const chosen = env[STATE_DIRECTORY_VARIABLE];
  if (chosen !== undefined && chosen !== '') return chosen;
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), NAME);
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', NAME);
  const xdg = env['XDG_STATE_HOME'];
  return join(xdg !== undefined && isAbsolute(xdg) ? xdg : join(home, '.local', 'state'), NAME);
}

/**
 * Creates the state directory with mode 0700, if it does not exist.
 * @throws ProductError CONFIGURATION if the directory cannot be created, is not a directory, belongs to another user,
 * or can be changed by other users
 */
export async function prepareStateDirectory(path: string): Promise<void> {
  try {
    await makeDirectoryWithParents(path, { mode: 0o700 });
  } catch (error) {
    throw unusableDirectoryError(path, reasonOf(error), error);
  }
  await requireSafeStateDirectory(path);
}

/**
 * Checks a state directory that exists. Creates nothing.
 * @throws ProductError CONFIGURATION, as `prepareStateDirectory`
 */
export async function requireSafeStateDirectory(path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    throw unusableDirectoryError(path, reasonOf(error), error);
  });
  if (!found.isDirectory()) throw unusableDirectoryError(path, 'it is not a directory');
  if (process.platform === 'win32') return;
  if (process.getuid && found.uid !== process.getuid())
    throw refusedDirectoryError(
      path,
      `it belongs to another user. ${CHOOSE_ANOTHER}, or run the command as that user`,
    );
  // The token in this directory gives full access to the server. Other users must not be able to replace it.
  if ((found.mode & 0o022) !== 0)
    throw unusableDirectoryError(path, `other users may write to it; run: chmod 700 ${path}`);
}

/**
 * Checks that this process may write to the directory or, if it does not exist, may create it. Changes nothing.
 * @throws ProductError CONFIGURATION
 */
export async function requireWritableOrCreatable(path: string): Promise<void> {
  for (let place = resolve(path); ; place = dirname(place)) {
    try {
      return await access(place, constants.W_OK);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' || place === dirname(place))
        throw unusableDirectoryError(path, reasonOf(error), error);
    }
  }
}

/**
 * Checks that this process can write to the directory: creates a directory in it and deletes that again. The file mode
 * is not a reliable test for root, on Windows, or on a read-only file system.
 * @throws ProductError CONFIGURATION
 */
export async function checkWritable(path: string): Promise<void> {
  try {
    await rmdir(await mkdtemp(join(path, 'trial-')));
  } catch (error) {
    const forbidden = ['EACCES', 'EPERM'].includes(errorCode(error) ?? '');
    throw unusableDirectoryError(path, forbidden ? 'this user may not write to it' : reasonOf(error), error);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTDIR: 'a part of the path is a file, not a directory',
  ENOENT: 'it cannot be created there, or a link in its path is broken',
  EACCES: 'this user may not create or open it',
  EPERM: 'this user may not create or open it',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

function reasonOf(error: unknown): string {
  return REASONS[errorCode(error) ?? ''] ?? errorMessageOf(error);
}

const CHOOSE_ANOTHER = `Choose another with --state-dir or ${STATE_DIRECTORY_VARIABLE}`;

function unusableDirectoryError(path: string, problem: string, cause?: unknown): ProductError {
  return refusedDirectoryError(path, `${problem}. ${CHOOSE_ANOTHER}`, cause);
}

function refusedDirectoryError(path: string, text: string, cause?: unknown): ProductError {
  return new ProductError('CONFIGURATION', `The state directory ${path} cannot be used: ${text}.`, {
    facts: { path },
    cause,
  });
}
