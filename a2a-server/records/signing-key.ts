/**
 * The Ed25519 keys that sign what the server sends. Each is a file of the state directory. Servers that share a journal
 * use the keys of the first one.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { obtainSecret } from '../../shared/state/secret-file.ts';
import { type RecordStore, sharedSecret } from './record-store.ts';

/**
 * The names of the keys. A key never changes by itself. `afterDeletion` says what happens if the operator deletes its
 * file.
 */
const KEYS = {
  'receipt-key': 'the next receipt creates a new one; older receipts then have an unknown key',
  'push-key': 'the next push notification creates a new one; receivers then read the published keys again',
} as const;
export type SigningKeyName = keyof typeof KEYS;

/**
 * Reads the key of this state directory, or creates it on first use.
 * @throws ProductError CONFIGURATION, see `obtainSecret`
 */
export function obtainSigningKey(stateDirectory: string, name: SigningKeyName): Promise<KeyObject> {
  return obtainSecret({
    path: join(stateDirectory, `${name}.pem`),
    what: 'key',
    create: () =>
      generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    parse: parseKey,
    afterDeletion: KEYS[name],
  });
}

/**
 * Returns the key with which this server signs. Servers that share records use the key of the first one.
 * @param shared absent for a server that shares nothing
 * @throws ProductError CONFIGURATION, STORAGE
 */
export async function signingKey(
  stateDirectory: string,
  name: SigningKeyName,
  shared: RecordStore | undefined,
): Promise<KeyObject> {
  const own = await obtainSigningKey(stateDirectory, name);
  if (shared === undefined) return own;
  const pem = own.export({ format: 'pem', type: 'pkcs8' }).toString();
  return createPrivateKey(await sharedSecret(shared, name, pem));
}

function parseKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}
