/** Opens the server's record store for one command of `a2a-server`. The server may run meanwhile. */
import { prepareStateDirectory } from '../../../shared/state/state-directory.ts';
import { createFileRecordStore } from '../../records/file-records.ts';
import type { RecordStore } from '../../records/record-store.ts';
import type { RecordStorePlace } from '../settings/read-settings.ts';

/** The record store of a command. A command reads and writes once, so it watches nothing. */
export type CommandRecords = Omit<RecordStore, 'watch'>;

/**
 * Opens the records for `act`, and closes them. `act` gets the time of the servers that use the records, in milliseconds
 * since 1970.
 * @throws ProductError CONFIGURATION, STORAGE
 */
export async function withRecords<Result>(
  { stateDir, database }: RecordStorePlace,
  act: (records: CommandRecords, now: number) => Promise<Result>,
): Promise<Result> {
  if (database === undefined) {
    await prepareStateDirectory(stateDir);
    return act(
      createFileRecordStore(stateDir, () => undefined),
      Date.now(),
    );
  }
  const { openExistingPostgresRecords } = await import('../../journal/postgres/postgres-records.ts');
  const records = await openExistingPostgresRecords(database);
  try {
    return await act(records, records.openedAt);
  } finally {
    records.close();
  }
}
