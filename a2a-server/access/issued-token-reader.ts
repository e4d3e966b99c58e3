/**
 * Finds the issued tokens of a running server. The server reads a token at each use, so a revoked token gives no
 * further access. For requests that are already open, a watcher calls the listeners of `onRevoked`.
 */
import type { Clock } from '../../shared/runtime/clock.ts';
import type { RecordStore } from '../records/record-store.ts';
import { createAccessEndListeners } from './access-end-listeners.ts';
import { type IssuedTokenRecord, isSecretOfToken, parseToken, issuedTokenState } from './issued-token.ts';
import { DamagedTokenError, createTokenStore } from './token-store.ts';

export interface IssuedTokenReader {
  /** Returns the token with this text. Undefined if it is unknown, expired or revoked. @throws ProductError STORAGE */
  find(text: string): Promise<IssuedTokenRecord | undefined>;
  /** Returns the token with this id. Undefined if it is unknown, expired or revoked. @throws ProductError STORAGE */
  active(id: string): Promise<IssuedTokenRecord | undefined>;
  /**
   * True if the token was revoked, or is unknown or damaged. A token that has only expired was not revoked.
   * @throws ProductError STORAGE
   */
  isRevoked(id: string): Promise<boolean>;
  /**
   * Calls `act` once when a check finds the token revoked, expired or damaged. The reader checks the token at this
   * call, and whenever stored tokens may have changed. Returns a function that removes the listener.
   */
  onRevoked(id: string, act: () => void): () => void;
  close(): void;
}

interface IssuedTokensOptions {
  records: RecordStore;
  clock: Pick<Clock, 'now'>;
  /** Called if a token is damaged (it then gives no access), or if the watcher cannot read a token. */
  onFailure: (error: unknown) => void;
}

export function openIssuedTokenReader({ records, clock, onFailure }: IssuedTokensOptions): IssuedTokenReader {
  const store = createTokenStore(records);

  const read = async (id: string): Promise<IssuedTokenRecord | undefined> => {
    try {
      return await store.read(id);
    } catch (error) {
      if (!(error instanceof DamagedTokenError)) throw error;
      onFailure(error);
      return undefined;
    }
  };
  const active = async (id: string): Promise<IssuedTokenRecord | undefined> => {
    const token = await read(id);
    return token !== undefined && issuedTokenState(token, clock.now()) === 'active' ? token : undefined;
  };
  const listeners = createAccessEndListeners(async (id) => (await active(id)) === undefined, onFailure);
  const stopWatching = records.watch('tokens', () => listeners.check());

  return {
    async find(text) {
      const parsed = parseToken(text);
      const token = parsed && (await active(parsed.id));
      return parsed && token && isSecretOfToken(token, parsed.secret) ? token : undefined;
    },
    active,
    isRevoked: async (id) => (await read(id))?.revokedAt !== null,
    // The token may have been revoked since `find` returned it. So `add` checks the token too.
    onRevoked: (id, act) => listeners.add(id, act),
    close: stopWatching,
  };
}
