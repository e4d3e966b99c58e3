/** Reads a task's entries after a given position. */
import type { JournalEntry, TaskEvent } from '../../task/events.ts';
import { integerColumn, textColumn } from './columns.ts';
import { SqliteFailure, type Query, type Row, type Sqlite } from '../../../shared/sqlite/driver.ts';
import { LONGEST_ROW, unpack } from './packed-row.ts';

export class EntryReader {
  readonly #entries: Query;

  constructor(database: Sqlite) {
    // J1: without gaps, the next `limit` entries end at `after + limit`. The last one may be in a packed row, whose key is the
    // `seq` of its last entry.
    this.#entries = database.query(
      `SELECT seq, at, body, first FROM events
       WHERE task = (SELECT key FROM tasks WHERE task_id = ?1) AND seq > ?2 AND seq < ?2 + ?3 + ${LONGEST_ROW}
         AND coalesce(first, seq) <= ?2 + ?3
       ORDER BY seq LIMIT ?3`,
    );
  }

  read(taskId: string, after: number, limit: number): JournalEntry[] {
    return this.#entries(taskId, after, limit).flatMap((row) => toEntries(row, { after, limit }));
  }
}

const ALL = { after: 0, limit: Number.MAX_SAFE_INTEGER };

/** The entries of a row `[seq, at, body, first]`: one entry, or the requested part of a packed row. */
export function toEntries(row: Row, asked = ALL): JournalEntry[] {
  const [seq, at, body] = [integerColumn(row[0]), integerColumn(row[1]), textColumn(row[2])];
  if (row[3] === null) return [{ seq, at, event: toEvent(body) }];
  return unpack(body, { first: integerColumn(row[3]), last: seq }, asked);
}

/** `JSON.stringify` of a `TaskEvent` wrote this text. Only a damaged file contains other text. */
function toEvent(body: string): TaskEvent {
  try {
    const event: TaskEvent = JSON.parse(body);
    return event;
  } catch (error) {
    throw new SqliteFailure('SQLITE_CORRUPT', 'an event is not valid JSON', error);
  }
}
