/** Stores the keys that sign push notifications in the record store, so that all servers of the store use them. */
import { createCachedRead } from '../../shared/runtime/cached-read.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { RecordStore } from '../records/record-store.ts';
import { newPushKeys, type PushKeys, pushKeysSchema, pushKeyRotation } from './push-keys.ts';

const KIND = 'secrets';
const NAME = 'push-keys';
/**
 * The minimum time between two reads of the keys, in milliseconds. For this time, a server may still use replaced keys.
 */
const READ_AGAIN_MS = 1_000;

type KeyRecords = Pick<RecordStore, 'read' | 'create' | 'replace' | 'swap'>;

/** Returns a function that reads the keys. The first server that reads them creates them. */
export function createPushKeysReader(
  records: KeyRecords,
  clock: Pick<Clock, 'now' | 'elapsed'>,
): () => Promise<PushKeys> {
  // After a failure, the next notification reads the keys again.
  return createCachedRead(() => readOrCreate(records), { clock, cooldownMs: 0, maxAgeMs: READ_AGAIN_MS });
}

/** Adds a key that signs once receivers have had the time to read it. @throws ProductError STORAGE */
export async function rotateStoredPushKeys(
  records: KeyRecords,
  now: number,
): Promise<{ from: number; oldUntil: number }> {
  await readOrCreate(records);
  const text = (await records.read(KIND, NAME)) ?? '';
  const { keys, from, oldUntil } = pushKeyRotation(parsePushKeys(text), now);
  if (await records.swap(KIND, NAME, { before: text, after: JSON.stringify(keys) }))
    return { from, oldUntil };
  throw new ProductError('STORAGE', 'Another command has changed the keys at the same time. Try again.');
}

/**
 * Replaces all keys by one new key, which signs from now on. Also repairs damaged keys. @throws ProductError STORAGE
 */
export async function replaceStoredPushKeys(records: KeyRecords): Promise<void> {
  await records.replace(KIND, NAME, JSON.stringify(newPushKeys()));
}

async function readOrCreate(records: KeyRecords): Promise<PushKeys> {
  const known = await records.read(KIND, NAME);
  if (known !== undefined) return parsePushKeys(known);
  const own = newPushKeys();
  // If several servers start together, only one of them stores its keys.
  if (await records.create(KIND, NAME, JSON.stringify(own))) return own;
  return parsePushKeys((await records.read(KIND, NAME)) ?? '');
}

function parsePushKeys(text: string): PushKeys {
  try {
    return pushKeysSchema.parse(JSON.parse(text));
  } catch {
    // The error has no cause, because the message of JSON.parse quotes the text, which is secret.
    throw new ProductError(
      'STORAGE',
      'The stored keys of push notifications are damaged. Replace them with `a2a-server push rotate-key --revoke`.',
    );
  }
}
