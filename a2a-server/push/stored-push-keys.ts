/** Stores the keys that sign push notifications in the record store, so that all servers of the store use them. */
import { createCachedRead } from '../runtime/cached-read.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { RecordStore } from '../records/record-store.ts';
import { newPushKeys, type PushKeys, pushKeysSchema, pushKeyRotation } from './push-keys.ts';

const KIND = 'secrets';
/**
 * The keys are in the record with the highest number: `push-keys`, `push-keys-1`, `push-keys-2` and so on. Each change
 * creates the next record and removes the earlier ones. So of two changes at the same time, only one creates the
 * record. The other cannot overwrite this record, even if several processes share the files of the records.
 */
const NAME = 'push-keys';
/**
 * The minimum time between two reads of the keys, in milliseconds. For this time, a server may still use replaced keys.
 */
const READ_AGAIN_MS = 1_000;

type KeyRecords = Pick<RecordStore, 'list' | 'create' | 'remove'>;

interface KeysRecord {
  number: number;
  text: string;
}

/** Returns a function that reads the keys. The first server that reads them creates them. */
export function createPushKeysReader(
  records: KeyRecords,
  clock: Pick<Clock, 'now' | 'elapsed'>,
): () => Promise<PushKeys> {
  const read = async (): Promise<PushKeys> => parsePushKeys((await obtainNewest(records)).text);
  // After a failure, the next notification reads the keys again.
  return createCachedRead(read, { clock, cooldownMs: 0, maxAgeMs: READ_AGAIN_MS });
}

/** Adds a key that signs once receivers have had the time to read it. @throws ProductError STORAGE */
export async function rotateStoredPushKeys(
  records: KeyRecords,
  now: number,
): Promise<{ from: number; oldUntil: number }> {
  const { number, text } = await obtainNewest(records);
  const { keys, from, oldUntil } = pushKeyRotation(parsePushKeys(text), now);
  if (await storeAs(records, number + 1, keys)) return { from, oldUntil };
  throw new ProductError('STORAGE', 'Another command has changed the keys at the same time. Try again.');
}

/**
 * Replaces all keys by one new key, which signs from now on. Also repairs damaged keys. @throws ProductError STORAGE
 */
export async function replaceStoredPushKeys(records: KeyRecords): Promise<void> {
  for (;;) {
    const newest = await findNewest(records);
    const number = newest === undefined ? 0 : newest.number + 1;
    if (await storeAs(records, number, newPushKeys())) return;
  }
}

async function obtainNewest(records: KeyRecords): Promise<KeysRecord> {
  const found = await findNewest(records);
  if (found !== undefined) return found;
  // If several servers start together, only one of them stores its keys.
  await records.create(KIND, NAME, JSON.stringify(newPushKeys()));
  return (await findNewest(records)) ?? { number: 0, text: '' };
}

async function findNewest(records: KeyRecords): Promise<KeysRecord | undefined> {
  const all = [...(await records.list(KIND, NAME))].map(([name, text]) => ({ number: numberOf(name), text }));
  return all.toSorted((one, other) => other.number - one.number)[0];
}

/** Stores the keys as the record with this number. Returns false if there is such a record. */
async function storeAs(records: KeyRecords, number: number, keys: PushKeys): Promise<boolean> {
  const name = number === 0 ? NAME : `${NAME}-${number}`;
  if (!(await records.create(KIND, name, JSON.stringify(keys)))) return false;
  for (const earlier of (await records.list(KIND, NAME)).keys())
    if (numberOf(earlier) < number) await records.remove(KIND, earlier);
  return true;
}

function numberOf(name: string): number {
  return Number(name.slice(NAME.length + 1));
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
