/** Opens the records of a server for a command line, while the server may run. */
import { prepareStateDirectory } from '../../../shared/state/state-directory.ts';
import { createFileRecordStore } from '../../records/file-records.ts';
import type { RecordStore } from '../../records/record-store.ts';
import type { ServerSettings } from '../settings/settings.ts';

/** The settings that say where the records are. */
export type RecordPlace = Pick<ServerSettings, 'stateDir' | 'database'>;

/** The record store of a command. A command reads and writes once, so it watches nothing. */
export type CommandRecords = Omit<RecordStore, 'watch'>;

/** Opens the records for `act`, and closes them. @throws ProductError CONFIGURATION, STORAGE */
export async function withRecords<Result>(
  { stateDir, database }: RecordPlace,
  act: (records: CommandRecords) => Promise<Result>,
): Promise<Result> {
  if (database === undefined) {
    await prepareStateDirectory(stateDir);
    return act(createFileRecordStore(stateDir, () => undefined));
  }
  const { openExistingPostgresRecords } = await import('../../journal/postgres/postgres-records.ts');
  const records = await openExistingPostgresRecords(database);
  try {
    return await act(records);
  } finally {
    records.close();
  }
}
