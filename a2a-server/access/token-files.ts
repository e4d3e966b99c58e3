/**
 * Stores issued tokens in the state directory, one file per token. A command line can so create and revoke tokens
 * without the running server, and without a lock. The journal does not contain tokens: the restoration of a backup must
 * not bring a revoked token back.
 */
import { readFileSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, replaceFile } from '../../shared/state/atomic-file.ts';
import { messageOf, ProductError, systemErrorCode } from '../../shared/runtime/errors.ts';
import { type IssuedToken, issuedTokenSchema } from './issued-token.ts';

const FILE_NAME = /^([0-9a-f]{12})\.json$/;

export interface TokenFiles {
  /** The directory of the files. */
  directory: string;
  /** @throws ProductError STORAGE */
  add(token: IssuedToken): Promise<void>;
  /** Returns all tokens, the oldest first. @throws ProductError STORAGE, also for a damaged file */
  list(): Promise<IssuedToken[]>;
  /**
   * Returns undefined if there is no such token. Reads at once, so that the answer is never older than the call.
   * @throws ProductError STORAGE, also for a damaged file
   */
  read(id: string): IssuedToken | undefined;
  /**
   * Marks the token as revoked. Returns undefined if there is no such token, and the unchanged token if it was revoked
   * before. @param now milliseconds since 1970 @throws ProductError STORAGE
   */
  revoke(id: string, now: number): Promise<IssuedToken | undefined>;
}

export function tokenFiles(stateDirectory: string): TokenFiles {
  const directory = join(stateDirectory, 'tokens');
  const pathOf = (id: string): string => join(directory, `${id}.json`);
  const read = (id: string): IssuedToken | undefined => {
    if (!FILE_NAME.test(`${id}.json`)) return undefined;
    const path = pathOf(id);
    try {
      const token = issuedTokenSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
      if (token.id !== id) throw new Error(`it is the file of the token ${token.id}`);
      return token;
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return undefined;
      throw unusable(path, error);
    }
  };
  return {
    directory,
    read,
    add: (token) =>
      usable(directory, async () => {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        if (!(await createFile(pathOf(token.id), textOf(token)))) throw new Error('the id is in use');
      }),
    async list() {
      const names = await usable(directory, () => namesIn(directory));
      const ids = names.flatMap((name) => FILE_NAME.exec(name)?.[1] ?? []);
      return ids
        .flatMap((id) => read(id) ?? [])
        .toSorted((one, other) => one.createdAt.localeCompare(other.createdAt));
    },
    async revoke(id, now) {
      const token = read(id);
      if (token === undefined || token.revokedAt !== null) return token;
      const revoked = { ...token, revokedAt: new Date(now).toISOString() };
      await usable(pathOf(id), () => replaceFile(pathOf(id), textOf(revoked)));
      return revoked;
    },
  };
}

async function usable<Result>(path: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw unusable(path, error);
  }
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

const textOf = (token: IssuedToken): string => `${JSON.stringify(token, null, 2)}\n`;

function unusable(path: string, error: unknown): ProductError {
  return new ProductError('STORAGE', `The tokens in ${path} cannot be used: ${messageOf(error)}.`, {
    facts: { path },
    cause: error,
  });
}
