/**
 * Stores small records that are not events of a task: issued tokens, push notification configurations, administrative
 * actions, links and sessions of the approval page, passkeys, and which server has clients that read a task now. A
 * server keeps them in files of its state directory. Servers that share a database keep the records in it, so each
 * server knows the records of the others.
 */

/** The kind of a record. Names are unique within a kind. */
export type RecordKind =
  | 'tokens'
  | 'audit'
  | 'page-links'
  | 'page-sessions'
  | 'passkeys'
  | 'passkey-codes'
  | 'challenges'
  | 'push'
  | 'push-retries'
  | 'readers'
  | 'secrets';

/**
 * Stores texts by kind and name. A name has 1 to 64 lower-case letters, digits or hyphens. For any other name, `read`
 * returns undefined, `swap` and `remove` return false, and `create` and `replace` throw.
 */
export interface RecordStore {
  /**
   * Returns the value, or undefined if there is no such record. The result includes every change that was stored before
   * this call.
   * @throws ProductError STORAGE
   */
  read(kind: RecordKind, name: string): Promise<string | undefined>;
  /**
   * Returns the records of the kind, by name.
   * @param prefix the beginning of the names; if absent, all records
   * @throws ProductError STORAGE
   */
  list(kind: RecordKind, prefix?: string): Promise<ReadonlyMap<string, string>>;
  /**
   * Creates a durable record. If a record has this name, changes nothing and returns false.
   * @throws ProductError STORAGE
   */
  create(kind: RecordKind, name: string, value: string): Promise<boolean>;
  /** Creates or replaces a durable record. @throws ProductError STORAGE */
  replace(kind: RecordKind, name: string, value: string): Promise<void>;
  /**
   * Replaces a record whose value is still `change.before`. Otherwise changes nothing and returns false.
   * @throws ProductError STORAGE
   */
  swap(kind: RecordKind, name: string, change: { before: string; after: string }): Promise<boolean>;
  /**
   * Removes a record. Returns false if there is none. If several callers remove the same record, only one gets true.
   * @param value if present, the record is removed only if this is still its value
   * @throws ProductError STORAGE
   */
  remove(kind: RecordKind, name: string, value?: string): Promise<boolean>;
  /**
   * Calls `wake` within about a second after any process has changed records of this kind. It may also call `wake`
   * without a change.
   * @returns a function that ends the watch
   */
  watch(kind: RecordKind, wake: () => void): () => void;
}

const NAME_PATTERN = /^[a-z0-9-]{1,64}$/;

/** True if a record can have this name. A name with other characters could be the path of another file. */
export function isRecordName(name: string): boolean {
  return NAME_PATTERN.test(name);
}

/**
 * Returns the secret with this name. All servers that share the store use the same secret. The first server stores its
 * own, even if several servers start together.
 * @throws ProductError STORAGE
 */
export async function obtainSharedSecret(
  records: Pick<RecordStore, 'create' | 'read'>,
  name: string,
  own: string,
): Promise<string> {
  await records.create('secrets', name, own);
  return (await records.read('secrets', name)) ?? own;
}
