/**
 * Reads a journal while a server may use it. This reader creates, changes and locks nothing. Each call reads the
 * current entries.
 */
import { existsSync } from 'node:fs';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { JournalEntry } from '../../task/events.ts';
import { textColumn } from '../validate-column-values.ts';
import { HIDDEN_PRINCIPAL } from './delete-sessions.ts';
import { openJournalDatabase } from './journal-database.ts';
import { EventRowReader } from './event-rows.ts';
import { requireCurrentSchema } from './schema.ts';
import { withStorageErrors } from '../../../shared/sqlite/storage-error.ts';

interface ReadonlyJournal {
  /** Returns the ids of all tasks, oldest first. */
  taskIds(): string[];
  entries(taskId: string): JournalEntry[];
  close(): void;
}

/**
 * Opens the journal for reading.
 * @throws ProductError CONFIGURATION if there is no journal or its version differs; STORAGE if it cannot be read
 */
export function openReadonlyJournal(path: string): ReadonlyJournal {
  if (!existsSync(path))
    throw new ProductError(
      'CONFIGURATION',
      `There is no journal ${path}. Check the state directory: no server has used it.`,
    );
  return withStorageErrors(path, () => {
    const database = openJournalDatabase(path);
    try {
      database.exec('PRAGMA query_only = ON');
      requireCurrentSchema(database, path);
      const reader = new EventRowReader(database);
      const ids = database.query(
        `SELECT task_id FROM tasks WHERE principal <> '${HIDDEN_PRINCIPAL}' ORDER BY key`,
      );
      return {
        taskIds: () => withStorageErrors(path, () => ids().map((row) => textColumn(row[0]))),
        entries: (taskId) => withStorageErrors(path, () => reader.readAll(taskId)),
        close: () => database.close(),
      };
    } catch (error) {
      database.close();
      throw error;
    }
  });
}
