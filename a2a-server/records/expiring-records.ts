/** Stores records of principals that expire: links and sessions of the page, challenges, codes for passkeys. */
import { z } from 'zod';
import { parseJson } from '../../shared/text/parse-json.ts';
import type { RecordKind, RecordStore } from './record-store.ts';

interface ExpiringRecord {
  principal: string;
  /** In milliseconds since 1970. */
  expiresAt: number;
}

export interface ExpiringRecords<Value> {
  /**
   * Returns the record, even if it has expired. Undefined if there is no such record, or if it is damaged.
   * @throws ProductError STORAGE
   */
  read(name: string): Promise<Value | undefined>;
  /**
   * Stores the record. Then removes all expired and damaged records, and the oldest records of its principal above the
   * maximum.
   * @throws ProductError STORAGE
   */
  add(name: string, value: Value): Promise<void>;
  /** Removes the record. If several callers remove the same record, only one gets true. @throws ProductError STORAGE */
  remove(name: string): Promise<boolean>;
  /**
   * Returns the names of the principal's records, also of those that another version wrote.
   * @throws ProductError STORAGE
   */
  ofPrincipal(principal: string): Promise<string[]>;
}

interface ExpiringRecordsOptions<Value> {
  schema: z.ZodType<Value>;
  /** The maximum number of records of one principal. A further record removes the oldest one. No maximum by default. */
  maxPerPrincipal?: number;
  /** Returns milliseconds since 1970. */
  now: () => number;
}

/** The fields that all versions of a server store. Servers of several versions may share the records. */
const recordOfAnyVersion = z.object({ principal: z.string(), expiresAt: z.number() });
const DAMAGED: ExpiringRecord = { principal: '', expiresAt: 0 };

export function createExpiringRecords<Value extends ExpiringRecord>(
  records: Omit<RecordStore, 'watch'>,
  kind: RecordKind,
  { schema, maxPerPrincipal = Infinity, now }: ExpiringRecordsOptions<Value>,
): ExpiringRecords<Value> {
  const parsed = (text: string): Value | undefined => schema.safeParse(parseJson(text)).data;
  const list = async (): Promise<(ExpiringRecord & { name: string })[]> =>
    [...(await records.list(kind))].map(([name, text]) => ({
      name,
      ...(recordOfAnyVersion.safeParse(parseJson(text)).data ?? DAMAGED),
    }));
  const removeOld = async (principal: string): Promise<void> => {
    const all = await list();
    const expired = all.filter(({ expiresAt }) => expiresAt <= now());
    const tooMany = all
      .filter((each) => each.principal === principal && !expired.includes(each))
      .toSorted((one, other) => other.expiresAt - one.expiresAt)
      .slice(maxPerPrincipal);
    await Promise.all([...expired, ...tooMany].map(({ name }) => records.remove(kind, name)));
  };
  return {
    async read(name) {
      const text = await records.read(kind, name);
      return text === undefined ? undefined : parsed(text);
    },
    async add(name, value) {
      await records.replace(kind, name, JSON.stringify(value));
      await removeOld(value.principal);
    },
    remove: (name) => records.remove(kind, name),
    async ofPrincipal(principal) {
      return (await list()).flatMap((each) => (each.principal === principal ? [each.name] : []));
    },
  };
}
