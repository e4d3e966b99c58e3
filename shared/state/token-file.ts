/**
 * Stores this user's local tokens in the state directory. `token`: the bridge sends it to the A2A server. `http-token`:
 * MCP clients send it to the bridge over HTTP. `request-state-key`: the bridge signs the `requestState` of its MCP
 * results with it.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { obtainSecret, readStoredSecret, type SecretFile } from './secret-file.ts';

/** Matches a bearer token (RFC 6750 §2.1). The minimum length is 20 characters, so that no one can guess the token. */
export const TOKEN_PATTERN = /^[A-Za-z0-9._~+/-]{20,512}=*$/;

export type TokenFileName = 'token' | 'http-token' | 'request-state-key';

export const tokenPath = (stateDirectory: string, file: TokenFileName = 'token'): string =>
  join(stateDirectory, file);

/**
 * Reads the token from the state directory, or creates one. If several processes start at the same time, all get the
 * same token.
 * @throws ProductError CONFIGURATION, see `obtainSecret`
 */
export function readOrCreateTokenFile(
  stateDirectory: string,
  file: TokenFileName = 'token',
): Promise<string> {
  return obtainSecret(tokenFile(stateDirectory, file));
}

/**
 * Checks the token in the state directory, if there is one.
 * @throws ProductError CONFIGURATION if a start would refuse it, see `obtainSecret`
 */
export async function checkStoredToken(stateDirectory: string): Promise<void> {
  await readStoredSecret(tokenFile(stateDirectory, 'token'));
}

function tokenFile(stateDirectory: string, file: TokenFileName): SecretFile<string> {
  return {
    path: tokenPath(stateDirectory, file),
    what: 'token',
    create: () => `${randomBytes(32).toString('base64url')}\n`,
    parse: (text) => (TOKEN_PATTERN.test(text.trim()) ? text.trim() : undefined),
    afterDeletion: 'the next start creates a new one',
  };
}
