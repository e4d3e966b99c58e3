/** Keeps records in memory, for tests whose subject is not the storage. It fulfils the contract of all record stores. */
import { isRecordName, type RecordStore } from '../../a2a-server/records/record-store.ts';

export function memoryRecords(): RecordStore {
  const records = new Map<string, Map<string, string>>();
  const watchers = new Set<() => void>();
  const of = (kind: string): Map<string, string> => {
    const known = records.get(kind) ?? new Map<string, string>();
    records.set(kind, known);
    return known;
  };
  const changed = (): void => {
    for (const wake of watchers) wake();
  };
  return {
    read: async (kind, name) => of(kind).get(name),
    list: async (kind, prefix = '') => new Map([...of(kind)].filter(([name]) => name.startsWith(prefix))),
    async create(kind, name, value) {
      check(name);
      if (of(kind).has(name)) return false;
      of(kind).set(name, value);
      changed();
      return true;
    },
    async replace(kind, name, value) {
      check(name);
      of(kind).set(name, value);
      changed();
    },
    async swap(kind, name, { before, after }) {
      if (of(kind).get(name) !== before) return false;
      of(kind).set(name, after);
      changed();
      return true;
    },
    async remove(kind, name, value) {
      if (value !== undefined && of(kind).get(name) !== value) return false;
      const removed = of(kind).delete(name);
      changed();
      return removed;
    },
    watch(_kind, wake) {
      watchers.add(wake);
      return () => watchers.delete(wake);
    },
  };
}

function check(name: string): void {
  if (!isRecordName(name)) throw new RangeError('this is no name of a record');
}
