/** The Ed25519 key that signs receipts. It is a file of the state directory. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { obtainSecret } from '../../shared/state/secret-file.ts';

/**
 * Reads the key, or creates it on first use. The key never changes, because a receipt with another key counts as unknown.
 * @throws ProductError CONFIGURATION, see `obtainSecret`
 */
export function obtainSigningKey(stateDirectory: string): Promise<KeyObject> {
  return obtainSecret({
    path: join(stateDirectory, 'receipt-key.pem'),
    what: 'key',
    create: () =>
      generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    parse: parseKey,
    afterDeletion: 'the next receipt creates a new one; older receipts then have an unknown key',
  });
}

function parseKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}
