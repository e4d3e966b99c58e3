/**
 * Keeps local secrets in files that only this user can read. The bridge sends `token` to the server. MCP clients send
 * `http-token` to the bridge over HTTP. The bridge signs the states of its calls with `request-state-key`.
 */
import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile } from './atomic-file.ts';
import { messageOf, ProductError, systemErrorCode } from '../runtime/errors.ts';
/** RFC 6750 §2.1: the characters of a bearer token. The minimum length is 20, so that no one can guess it. */
export const TOKEN_PATTERN = /^[A-Za-z0-9._~+/-]{20,512}=*$/;

export type TokenFile = 'token' | 'http-token' | 'request-state-key';

export const tokenPath = (stateDirectory: string, file: TokenFile = 'token'): string =>
  join(stateDirectory, file);

/**
 * Reads the token from the state directory, or creates it. If several processes start together, all get the same token.
 * @throws ProductError CONFIGURATION if the file cannot be read or written, holds no valid token, or is open to other users.
 */
export async function obtainToken(stateDirectory: string, file: TokenFile = 'token'): Promise<string> {
  const path = tokenPath(stateDirectory, file);
  try {
    const found = await readToken(path);
    if (found !== undefined) return found;
    await createFile(path, `${randomBytes(32).toString('base64url')}\n`);
    const made = await readToken(path);
    if (made !== undefined) return made;
  } catch (error) {
    if (error instanceof ProductError) throw error;
    throw unusable(path, messageOf(error), error);
  }
  throw unusable(path, 'another program deleted it just after it was created');
}

async function readToken(path: string): Promise<string | undefined> {
  let text: string;
  try {
    await refuseExposed(path);
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const token = text.trim();
  if (!TOKEN_PATTERN.test(token))
    throw unusable(path, 'it holds no valid token; delete it, and the next start creates a new one');
  return token;
}

/** With the token, other users can act as this user. On Windows the mode does not show who can read a file. */
async function refuseExposed(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0)
    throw unusable(
      path,
      `other users can read or change it (mode ${(mode & 0o777).toString(8)}). If another user may have read it, delete it: the next start creates a new one. Otherwise run: chmod 600 ${path}`,
    );
}

function unusable(path: string, problem: string, cause?: unknown): ProductError {
  return new ProductError('CONFIGURATION', `The token file ${path} cannot be used: ${problem}.`, {
    facts: { path },
    cause,
  });
}
