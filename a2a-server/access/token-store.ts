/**
 * Stores issued tokens. A command line can create and revoke tokens while the server runs. Tokens are not in the
 * journal. So a restored SQLite backup does not make a revoked token valid again.
 */
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { RecordStore } from '../records/record-store.ts';
import { type IssuedTokenRecord, issuedTokenSchema } from './issued-token.ts';

export type TokenStore = ReturnType<typeof createTokenStore>;

/** Thrown for a stored token that is not valid. Such a token gives no access. */
export class DamagedTokenError extends ProductError {
  constructor(id: string, cause: unknown) {
    super('STORAGE', `The stored token ${id} cannot be used: ${errorMessageOf(cause)}.`, {
      facts: { token: id },
      cause,
    });
  }
}

export function createTokenStore(records: Omit<RecordStore, 'watch'>) {
  /**
   * Returns the token with this id, or undefined if there is none. The result includes every change that was stored
   * before this call.
   * @throws ProductError STORAGE; DamagedTokenError
   */
  const read = async (id: string): Promise<IssuedTokenRecord | undefined> => {
    const text = await records.read('tokens', id);
    return text === undefined ? undefined : parseTokenRecord(id, text);
  };
  return {
    read,
    /** @throws ProductError STORAGE */
    async add(token: IssuedTokenRecord): Promise<void> {
      if (await records.create('tokens', token.id, textOf(token))) return;
      throw new ProductError('STORAGE', `The token id ${token.id} is in use. Try again.`);
    },
    /** Returns all tokens, the oldest first. @throws ProductError STORAGE, also for a damaged token */
    async list(): Promise<IssuedTokenRecord[]> {
      const all = [...(await records.list('tokens'))].map(([id, text]) => parseTokenRecord(id, text));
      return all.toSorted((one, other) => one.createdAt.localeCompare(other.createdAt));
    },
    /**
     * Marks the token as revoked. Returns undefined if there is no such token, and the unchanged token if it was revoked
     * before.
     * @param now milliseconds since 1970
     * @throws ProductError STORAGE
     */
    async revoke(id: string, now: number): Promise<IssuedTokenRecord | undefined> {
      const token = await read(id);
      if (token === undefined || token.revokedAt !== null) return token;
      const revoked = { ...token, revokedAt: new Date(now).toISOString() };
      await records.replace('tokens', id, textOf(revoked));
      return revoked;
    },
  };
}

function parseTokenRecord(id: string, text: string): IssuedTokenRecord {
  try {
    const token = issuedTokenSchema.parse(JSON.parse(text));
    if (token.id !== id) throw new Error(`it is the token ${token.id}`);
    return token;
  } catch (error) {
    throw new DamagedTokenError(id, error);
  }
}

const textOf = (token: IssuedTokenRecord): string => `${JSON.stringify(token, null, 2)}\n`;
