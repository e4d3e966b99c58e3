/** Opens the records of a server for a command line, while the server may run. */
import { prepareStateDirectory } from '../../../shared/state/state-directory.ts';
import { createFileRecordStore } from '../../records/file-records.ts';
import type { RecordStore } from '../../records/record-store.ts';
import type { ServerSettings } from '../settings/settings.ts';

/** The record store of a command. A command reads and writes once, so it watches nothing. */
type CommandRecords = Omit<RecordStore, 'watch'> & { close: () => void };

/** @throws ProductError CONFIGURATION, STORAGE */
export async function openRecordStoreForCommand({
  stateDir,
  database,
}: Pick<ServerSettings, 'stateDir' | 'database'>): Promise<CommandRecords> {
  if (database !== undefined) {
    const { openExistingPostgresRecords } = await import('../../journal/postgres/postgres-records.ts');
    return openExistingPostgresRecords(database);
  }
  await prepareStateDirectory(stateDir);
  return { ...createFileRecordStore(stateDir, () => undefined), close: () => undefined };
}
