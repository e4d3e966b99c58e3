/**
 * Reads the Ed25519 key that signs receipts. The key is a file of the state directory, and never changes by itself.
 * Servers that share a journal use the key of the server that stored one first.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { obtainSecret } from '../../shared/state/secret-file.ts';
import { type RecordStore, obtainSharedSecret } from '../records/record-store.ts';

const NAME = 'receipt-key';

/**
 * Reads the key of this state directory, or creates it on first use.
 * @throws ProductError CONFIGURATION, see `obtainSecret`
 */
export function obtainReceiptKey(stateDirectory: string): Promise<KeyObject> {
  return obtainSecret({
    path: join(stateDirectory, `${NAME}.pem`),
    what: 'key',
    create: () =>
      generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    parse: parseKey,
    afterDeletion: 'the next receipt creates a new one; older receipts then have an unknown key',
  });
}

/**
 * Returns the key with which this server signs. Servers that share records use the key of the server that stored one
 * first.
 * @param shared absent for a server that shares nothing
 * @throws ProductError CONFIGURATION, STORAGE
 */
export async function obtainSharedReceiptKey(
  stateDirectory: string,
  shared: RecordStore | undefined,
): Promise<KeyObject> {
  const own = await obtainReceiptKey(stateDirectory);
  if (shared === undefined) return own;
  const pem = own.export({ format: 'pem', type: 'pkcs8' }).toString();
  return createPrivateKey(await obtainSharedSecret(shared, NAME, pem));
}

function parseKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}
