/**
 * Reads a journal while a server may use it. This reader creates, changes and locks nothing. Each call reads the
 * current entries.
 */
import type { JournalEntry } from '../../task/events.ts';
import { textColumn } from '../validate-column-values.ts';
import { withDatabaseErrors } from './database-error.ts';
import {
  type PostgresConnection,
  type DatabaseAddress,
  parseDatabaseUrl,
  openPostgresConnection,
} from './driver.ts';
import { readAllEntries } from './event-reader.ts';
import { requireCurrentSchema, requireUsableSchema } from './schema.ts';

interface ReadonlyJournal {
  /** Returns the ids of all tasks, oldest first. */
  taskIds(): Promise<string[]>;
  entries(taskId: string): Promise<JournalEntry[]>;
  close(): void;
}

/**
 * Opens the journal for reading.
 * @throws ProductError CONFIGURATION if there is no journal or its version differs; STORAGE if it cannot be read
 */
export async function openReadonlyPostgresJournal(url: string): Promise<ReadonlyJournal> {
  const address = parseDatabaseUrl(url);
  const connection = await connect(address, requireCurrentSchema);
  return {
    taskIds: () =>
      withDatabaseErrors(address.label, async () =>
        (await connection.query({ text: 'SELECT task_id FROM tasks ORDER BY key' })).map((row) =>
          textColumn(row[0]),
        ),
      ),
    entries: (taskId) => withDatabaseErrors(address.label, () => readAllEntries(connection, taskId)),
    close: () => connection.close(),
  };
}

/**
 * Checks whether a server can use the database. Changes nothing.
 * @throws ProductError CONFIGURATION, STORAGE. The next start of the server would fail with the same error.
 */
export async function requireUsableDatabase(url: string): Promise<void> {
  (await connect(parseDatabaseUrl(url), requireUsableSchema)).close();
}

async function connect(
  address: DatabaseAddress,
  check: (connection: PostgresConnection, label: string) => Promise<void>,
): Promise<PostgresConnection> {
  return withDatabaseErrors(address.label, () =>
    openPostgresConnection(address, async (connection) => {
      await connection.query({ text: 'SET default_transaction_read_only = on' });
      await check(connection, address.label);
    }),
  );
}
