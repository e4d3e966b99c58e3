/** Reads a task's entries from a position on. */
import type { JournalEntry, TaskEvent } from '../../task/events.ts';
import { integer, text } from './columns.ts';
import { SqliteFailure, type Query, type Row, type Sqlite } from './driver.ts';

export class EntryReader {
  readonly #entries: Query;

  constructor(database: Sqlite) {
    this.#entries = database.query(
      `SELECT seq, at, body FROM events
       WHERE task = (SELECT key FROM tasks WHERE task_id = ?) AND seq > ? ORDER BY seq LIMIT ?`,
    );
  }

  read(taskId: string, after: number, limit: number): JournalEntry[] {
    return this.#entries(taskId, after, limit).map(toEntry);
  }
}

function toEntry(row: Row): JournalEntry {
  return { seq: integer(row[0]), at: integer(row[1]), event: toEvent(text(row[2])) };
}

/** The text is what `JSON.stringify` made of a `TaskEvent`: only a damaged file can hold anything else. */
function toEvent(body: string): TaskEvent {
  try {
    const event: TaskEvent = JSON.parse(body);
    return event;
  } catch (error) {
    throw new SqliteFailure('SQLITE_CORRUPT', 'an event is not what was written', error);
  }
}
