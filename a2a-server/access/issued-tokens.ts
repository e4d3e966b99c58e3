/**
 * The issued tokens, as a running server uses them. The server reads the file of a token at each use, so a revoked token
 * opens nothing from then on. A watcher of the directory ends what is already open.
 */
import { watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Clock } from '../../shared/runtime/clock.ts';
import { type IssuedToken, isSecretOf, parseToken, tokenState } from './issued-token.ts';
import { tokenFiles } from './token-files.ts';

export interface IssuedTokens {
  /** Returns the token with this text. Undefined if it is unknown, expired or revoked. */
  find(text: string): IssuedToken | undefined;
  /** Returns the token with this id. Undefined if it is unknown, expired or revoked. */
  active(id: string): IssuedToken | undefined;
  /** Calls `act` when the token is revoked. Returns a function that removes the listener. */
  onRevoked(id: string, act: () => void): () => void;
  close(): void;
}

/** A server without issued tokens. */
export const NO_ISSUED_TOKENS: IssuedTokens = {
  find: () => undefined,
  active: () => undefined,
  onRevoked: () => () => undefined,
  close: () => undefined,
};

interface IssuedTokensOptions {
  stateDirectory: string;
  clock: Pick<Clock, 'now'>;
  /** Called if a file cannot be used, which then gives no access, and if the directory cannot be watched. */
  onFailure: (error: unknown) => void;
}

/** Creates the directory and watches it. */
export async function openIssuedTokens({
  stateDirectory,
  clock,
  onFailure,
}: IssuedTokensOptions): Promise<IssuedTokens> {
  const files = tokenFiles(stateDirectory);
  await mkdir(files.directory, { recursive: true, mode: 0o700 });
  const listeners = new Map<string, Set<() => void>>();

  const active = (id: string): IssuedToken | undefined => {
    try {
      const token = files.read(id);
      return token !== undefined && tokenState(token, clock.now()) === 'active' ? token : undefined;
    } catch (error) {
      onFailure(error);
      return undefined;
    }
  };
  const endRevoked = (): void => {
    for (const [id, acts] of listeners) {
      if (active(id) !== undefined) continue;
      listeners.delete(id);
      for (const act of acts) act();
    }
  };
  const stopWatching = watched(files.directory, endRevoked, onFailure);

  return {
    find(text) {
      const parsed = parseToken(text);
      const token = parsed && active(parsed.id);
      return parsed && token && isSecretOf(token, parsed.secret) ? token : undefined;
    },
    active,
    onRevoked(id, act) {
      const acts = listeners.get(id) ?? new Set();
      listeners.set(id, acts.add(act));
      return () => {
        acts.delete(act);
        if (acts.size === 0 && listeners.get(id) === acts) listeners.delete(id);
      };
    },
    close: stopWatching,
  };
}

function watched(directory: string, onChange: () => void, onFailure: (error: unknown) => void): () => void {
  try {
    const watcher = watch(directory, { persistent: false }, onChange);
    watcher.on('error', onFailure);
    return () => watcher.close();
  } catch (error) {
    onFailure(error);
    return () => undefined;
  }
}
