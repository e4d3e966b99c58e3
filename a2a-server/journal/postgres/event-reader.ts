/** Reads the rows of the table `events`. */
import type { JournalEntry } from '../../task/events.ts';
import { type JournalPage, PAGE_ENTRIES, pageOfRows, selectPage } from '../journal-page.ts';
import { journalEntriesOfRow, MAX_EVENTS_PER_ROW } from '../packed-row.ts';
import type { QueryRunner } from './driver.ts';

// J1: there are no gaps, so the next `limit` entries end at `after + limit`. If a packed row contains the last of these
// entries, its key may be larger, because the key is the `seq` of the row's last entry.
const selectRows = (columns: string): string => `SELECT ${columns} FROM events
         WHERE task = (SELECT key FROM tasks WHERE task_id = $1)
           AND seq > $2::bigint AND seq < $2::bigint + $3::bigint + ${MAX_EVENTS_PER_ROW}
           AND coalesce(first, seq) <= $2::bigint + $3::bigint
         ORDER BY seq LIMIT $3::bigint`;

const READ = { name: 'read_events', text: selectRows('seq, at, body, first') };
const READ_PAGE = { name: 'read_page_of_events', text: selectPage(selectRows) };

const ENTRIES_PER_READ = 1_000;

/**
 * Returns at most `limit` entries of a task with `seq` greater than `after`.
 * @throws PostgresError, DamagedDataError
 */
export async function readEntries(
  database: QueryRunner,
  taskId: string,
  { after, limit }: { after: number; limit: number },
): Promise<JournalEntry[]> {
  const rows = await database.query(READ, [taskId, after, limit]);
  return rows.flatMap((row) => journalEntriesOfRow(row, { after, limit }));
}

/** Returns the page of a task that begins after `after`. @throws PostgresError, DamagedDataError */
export async function readPage(database: QueryRunner, taskId: string, after: number): Promise<JournalPage> {
  return pageOfRows(await database.query(READ_PAGE, [taskId, after, PAGE_ENTRIES]), after);
}

/** Returns all entries of a task. @throws PostgresError, DamagedDataError */
export async function readAllEntries(database: QueryRunner, taskId: string): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (;;) {
    const page = await readEntries(database, taskId, { after: entries.length, limit: ENTRIES_PER_READ });
    entries.push(...page);
    if (page.length < ENTRIES_PER_READ) return entries;
  }
}
