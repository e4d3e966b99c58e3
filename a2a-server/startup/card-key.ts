/** Reads the private key that signs the agent card. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { cardSigningAlgorithm } from '../../shared/card/card-signature.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { fileProblem } from '../../shared/runtime/file-problem.ts';

/**
 * Reads a private key from a PEM file.
 * @throws ProductError CONFIGURATION if the file is missing, open to other users, or has no key that can sign cards
 */
export async function readCardKey(file: string): Promise<KeyObject> {
  let key: KeyObject;
  try {
    // With the key, other users could sign a card that leads clients to their own server.
    if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0)
      throw new Error(`other users can read or change it; run: chmod 600 ${file}`);
    key = createPrivateKey(await readFile(file, 'utf8'));
  } catch (error) {
    throw unusableKeyError(file, fileProblem(error), error);
  }
  if (cardSigningAlgorithm(key) === undefined)
    throw unusableKeyError(file, 'its key is not Ed25519, EC P-256, or RSA of at least 2048 bits');
  return key;
}

function unusableKeyError(file: string, problem: string, cause?: unknown): ProductError {
  return new ProductError(
    'CONFIGURATION',
    `--card-key ${file} cannot be used: ${problem}. Create a key with: openssl genpkey -algorithm ed25519 -out card-key.pem`,
    { facts: { key: 'cardKey' }, cause },
  );
}
