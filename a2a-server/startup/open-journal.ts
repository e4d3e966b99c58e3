import { join } from 'node:path';
import { systemClock } from '../../shared/runtime/clock.ts';
import { withStorageErrors } from '../../shared/sqlite/storage-error.ts';
import type { OnAppended, OnChangedElsewhere } from '../journal/committed-entries.ts';
import type { Journal } from '../journal/journal.ts';
import { lockJournal } from '../journal/sqlite/journal-lock.ts';
import { openSqliteJournal } from '../journal/sqlite/sqlite-journal.ts';
import type { ServerSettings } from './settings/settings.ts';

interface JournalUse {
  onAppended: OnAppended;
  onChangedElsewhere: OnChangedElsewhere;
  /**
   * Called once if the database no longer has the row that registers this server, or entries that this server has
   * written or read. E1: this server must stop its work, because another server may execute its tasks.
   */
  onRemoved: (error: Error) => void;
}

/**
 * Opens the journal. The settings choose a PostgreSQL database or the SQLite file in the state directory. In both
 * cases, no other server can use the state directory until the journal is closed.
 * @throws ProductError CONFIGURATION, STORAGE
 */
export async function openJournal(
  {
    database,
    databaseListen,
    label,
    stateDir,
  }: Pick<ServerSettings, 'database' | 'databaseListen' | 'label' | 'stateDir'>,
  { onAppended, onChangedElsewhere, onRemoved }: JournalUse,
): Promise<Journal> {
  const path = join(stateDir, 'journal.db');
  if (database === undefined) return openSqliteJournal({ path, clock: () => systemClock.now(), onAppended });
  // With PostgreSQL, the state directory is locked too, because it has the records of this server's processes.
  const lock = withStorageErrors(path, () => lockJournal(path));
  try {
    const { openPostgresJournal } = await import('../journal/postgres/postgres-journal.ts');
    const journal = await openPostgresJournal({
      url: database,
      listenUrl: databaseListen,
      label,
      onAppended,
      onChangedElsewhere,
      onRemoved,
    });
    return {
      ...journal,
      async close() {
        await journal.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
