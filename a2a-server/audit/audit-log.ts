/**
 * Reads and writes the log of administrative actions. Records are added, and never changed. They are in the record
 * store, like the tokens. So a command line can write while the server runs, and servers that share a database have one
 * log.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import type { RecordStore } from '../records/record-store.ts';
import { osUserName } from './user-name.ts';
import { parseJson } from '../../shared/text/parse-json.ts';
import type { NewAuditRecord, AuditRecord } from './audit-record.ts';

export type AuditLog = ReturnType<typeof createAuditLog>;

/**
 * An audit record as the command lists it. Only a record with a configuration has `changed`: the names of the settings
 * that differ from the previous configuration of the same host. The first record of a new host is compared with the
 * previous configuration of any host, because each container is a new host.
 */
export type AuditRecordWithChanges = AuditRecord & { changed?: string[] };

/** The number of digits of the time in a record's name. The number is fixed, so sorting by name also sorts by time. */
const TIME_DIGITS = 15;

/** @param host the name of this machine */
export function createAuditLog(records: Pick<RecordStore, 'create' | 'list'>, host = hostname()) {
  return {
    /**
     * Adds a record. Resolves when it is durable.
     * @param now milliseconds since 1970
     * @throws ProductError STORAGE
     */
    async append(act: NewAuditRecord, now: number): Promise<void> {
      const by = { user: osUserName(), host };
      const text = JSON.stringify({ at: new Date(now).toISOString(), ...by, ...act });
      const nameOf = (): string =>
        `${String(now).padStart(TIME_DIGITS, '0')}-${randomBytes(8).toString('hex')}`;
      while (!(await records.create('audit', nameOf(), text)));
    },
    /** Returns all records, the oldest first, and the number of damaged ones. @throws ProductError STORAGE */
    async read(): Promise<{ records: AuditRecordWithChanges[]; damaged: number }> {
      const all = [...(await records.list('audit'))].toSorted(([one], [other]) => (one < other ? -1 : 1));
      const { auditRecordSchema } = await import('./audit-record.ts');
      const found = all.flatMap(([, text]) => auditRecordSchema.safeParse(parseJson(text)).data ?? []);
      return { records: withChanges(found), damaged: all.length - found.length };
    },
  };
}

function withChanges(records: readonly AuditRecord[]): AuditRecordWithChanges[] {
  const byHost = new Map<string | undefined, Record<string, unknown>>();
  let newest: Record<string, unknown> | undefined;
  return records.map((record) => {
    if (!('configuration' in record)) return record;
    const { configuration, host } = record;
    const before = byHost.get(host) ?? newest;
    byHost.set(host, configuration);
    newest = configuration;
    return before ? { ...record, changed: differences(before, configuration) } : record;
  });
}

function differences(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]));
}
