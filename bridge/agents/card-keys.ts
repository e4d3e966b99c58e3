/** Reads the public keys that the operator trusts to sign the card of an agent. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { cardSigningAlgorithm } from '../../shared/card/card-signature.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { fileProblem } from '../../shared/runtime/file-problem.ts';

/**
 * Reads public keys from PEM files. The bridge reads them again for each connection, because the operator may have
 * replaced a key.
 * @param whose names the owner of the keys in error messages, such as `Agent "team"`
 * @throws ProductError CONFIGURATION if a file is missing or contains no key that can sign cards
 */
export function readCardKeys(whose: string, files: readonly string[]): Promise<KeyObject[]> {
  return Promise.all(files.map((file) => readCardKey(whose, file)));
}

async function readCardKey(whose: string, file: string): Promise<KeyObject> {
  let key: KeyObject;
  try {
    key = createPublicKey(await readFile(file, 'utf8'));
  } catch (error) {
    throw unusableKeyError({ whose, file }, fileProblem(error), error);
  }
  if (cardSigningAlgorithm(key) === undefined)
    throw unusableKeyError({ whose, file }, 'its key is not Ed25519, EC P-256, or RSA of at least 2048 bits');
  return key;
}

function unusableKeyError(
  { whose, file }: { whose: string; file: string },
  problem: string,
  cause?: unknown,
): ProductError {
  return new ProductError(
    'CONFIGURATION',
    `${whose} cannot be used. ${file}, in its "cardKeys", is no public key for agent cards: ${problem}. Get the key again from the operator of the agent.`,
    { cause },
  );
}
