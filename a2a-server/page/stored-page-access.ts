/**
 * Stores links and sessions of the approval page in a small file. Only the server's user can read the file. It contains
 * hashes of secrets, but no secret.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../../shared/state/atomic-file.ts';
import { messageOf, ProductError, systemErrorCode } from '../../shared/runtime/errors.ts';
const grantedAccess = z.strictObject({
  /** SHA-256 (hex) of the secret. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  principal: z.string(),
  /** A hash of the principal's tokens, or of the issued token. It changes when a token changes. */
  tokens: z.string(),
  /** The issued token that made the link. The access ends with this token. */
  tokenId: z.string().optional(),
  /** In milliseconds since 1970. */
  expiresAt: z.number(),
});
export type GrantedAccess = z.infer<typeof grantedAccess>;

const content = z.strictObject({ links: z.array(grantedAccess), sessions: z.array(grantedAccess) });
export type PageAccess = z.infer<typeof content>;

const NOTHING: PageAccess = { links: [], sessions: [] };

export interface PageAccessFile {
  /**
   * Reads the file. If the file is invalid, returns no entries, so all users must sign in again. @throws ProductError
   * STORAGE
   */
  read(): Promise<PageAccess>;
  /** Writes the file. Concurrent writes run in the order of the calls. @throws ProductError STORAGE */
  write(access: PageAccess): Promise<void>;
  /** Removes the file after the writes so far, so that all users must sign in again. @throws ProductError STORAGE */
  remove(): Promise<void>;
}

export function pageAccessFile(stateDirectory: string): PageAccessFile {
  const path = join(stateDirectory, 'page-sessions.json');
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = (change: () => Promise<void>): Promise<void> => {
    const changed = last.then(change).catch((error: unknown) => {
      throw unusable(path, error);
    });
    last = changed.catch(() => undefined);
    return changed;
  };
  return {
    async read() {
      try {
        return content.safeParse(jsonOf(await readFile(path, 'utf8'))).data ?? NOTHING;
      } catch (error) {
        if (systemErrorCode(error) === 'ENOENT') return NOTHING;
        throw unusable(path, error);
      }
    },
    write(access) {
      const text = JSON.stringify(access);
      return inOrder(() => replaceFile(path, text));
    },
    remove: () => inOrder(() => rm(path, { force: true })),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unusable(path: string, error: unknown): ProductError {
  return new ProductError(
    'STORAGE',
    `The server cannot save the sign-ins of the approval page in ${path}: ${messageOf(error)}.`,
    { facts: { path }, cause: error },
  );
}
