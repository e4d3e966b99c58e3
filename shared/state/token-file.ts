/**
 * Stores local tokens in the state directory. The bridge sends `token` to the server. MCP clients send `http-token` to
 * the bridge over HTTP. The bridge signs the `requestState` of its calls with `request-state-key`.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { obtainSecret } from './secret-file.ts';

/** RFC 6750 §2.1: the characters of a bearer token. The minimum length is 20, so that no one can guess the token. */
export const TOKEN_PATTERN = /^[A-Za-z0-9._~+/-]{20,512}=*$/;

export type TokenFile = 'token' | 'http-token' | 'request-state-key';

export const tokenPath = (stateDirectory: string, file: TokenFile = 'token'): string =>
  join(stateDirectory, file);

/**
 * Reads the token from the state directory, or creates one. If several processes start together, all get the same
 * token.
 * @throws ProductError CONFIGURATION, see `obtainSecret`
 */
export function obtainToken(stateDirectory: string, file: TokenFile = 'token'): Promise<string> {
  return obtainSecret({
    path: tokenPath(stateDirectory, file),
    what: 'token',
    create: () => `${randomBytes(32).toString('base64url')}\n`,
    parse: (text) => (TOKEN_PATTERN.test(text.trim()) ? text.trim() : undefined),
    afterDeletion: 'the next start creates a new one',
  });
}
