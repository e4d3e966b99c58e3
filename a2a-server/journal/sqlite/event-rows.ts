/**
 * Reads and writes the rows of the table `events`. It inserts the events of one transaction with few statements,
 * because a driver call costs more than a row. For many adjacent events of one task, one statement inserts them, and
 * SQLite computes `seq`. All other events share a second statement, and its parameters contain each `seq`.
 */
import {
  type Command,
  type Sqlite,
  SqliteFailure,
  type Query,
  type Row,
} from '../../../shared/sqlite/driver.ts';
import type { JournalEntry, TaskEvent } from '../../task/events.ts';
import { integerColumn, textColumn } from './columns.ts';
import { LONGEST_ROW, unpackEntries } from './packed-row.ts';

/**
 * In UTF-16 code units. The limit is far below SQLite's limit of 10⁹ bytes for one value. It is large enough that a
 * read needs few queries.
 */
const LONGEST_STATEMENT = 8 * 1024 * 1024;

/** The number of events from which a separate statement is cheaper. */
const LONG_RUN = 8;

export interface EventInserts {
  run: Command;
  mixed: Command;
}

/** Stores each body as text, so that SQLite returns it unchanged. */
export function prepareInserts(database: Sqlite): EventInserts {
  return {
    /** Parameters: the task, the first `seq`, the time of the entries, and a JSON list of bodies. */
    run: database.command(
      'INSERT INTO events (task, seq, at, body) SELECT ?1, ?2 + key, ?3, value FROM json_each(?4)',
    ),
    /** Parameters: the time of the entries, and a JSON list of `[task, seq, body]`. */
    mixed: database.command(
      `INSERT INTO events (task, seq, at, body)
       SELECT value ->> 0, value ->> 1, ?1, value ->> 2 FROM json_each(?2)`,
    ),
  };
}

export class EventRows {
  readonly #at: number;
  readonly #inserts: EventInserts;
  #mixed: string[] = [];
  #length = 0;

  constructor(at: number, inserts: EventInserts) {
    this.#at = at;
    this.#inserts = inserts;
  }

  /** @param bodies JSON of the events; their `seq` starts at `firstSeq` */
  add(task: number, firstSeq: number, bodies: readonly string[]): void {
    if (bodies.length < LONG_RUN) this.#addMixed(task, firstSeq, bodies);
    else for (const { from, rows } of parts(bodies)) this.#inserts.run(task, firstSeq + from, this.#at, rows);
  }

  /** Inserts the collected events. */
  write(): void {
    if (this.#mixed.length === 0) return;
    this.#inserts.mixed(this.#at, `[${this.#mixed.join(',')}]`);
    this.#mixed = [];
    this.#length = 0;
  }

  #addMixed(task: number, firstSeq: number, bodies: readonly string[]): void {
    for (const [index, body] of bodies.entries()) {
      const row = `[${task},${firstSeq + index},${JSON.stringify(body)}]`;
      this.#mixed.push(row);
      this.#length += row.length;
      if (this.#length > LONGEST_STATEMENT) this.write();
    }
  }
}

/** Splits the bodies into JSON lists, each about as long as the statement limit or shorter. */
function* parts(bodies: readonly string[]): Generator<{ from: number; rows: string }> {
  let from = 0;
  let length = 0;
  for (const [index, body] of bodies.entries()) {
    length += body.length;
    if (length <= LONGEST_STATEMENT && index < bodies.length - 1) continue;
    yield { from, rows: JSON.stringify(bodies.slice(from, index + 1)) };
    from = index + 1;
    length = 0;
  }
}

/** Reads a task's entries after a given position. */
export class EntryReader {
  readonly #entries: Query;

  constructor(database: Sqlite) {
    // J1: there are no gaps, so the next `limit` entries end at `after + limit`. The last entry may be in a packed row.
    // The key of a packed row is the `seq` of its last entry.
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

/** Returns the entries of a row `[seq, at, body, first]`: one entry, or the requested part of a packed row. */
export function toEntries(row: Row, asked = ALL): JournalEntry[] {
  const [seq, at, body] = [integerColumn(row[0]), integerColumn(row[1]), textColumn(row[2])];
  if (row[3] === null) return [{ seq, at, event: toEvent(body) }];
  return unpackEntries(body, { first: integerColumn(row[3]), last: seq }, asked);
}

/** The text is the result of `JSON.stringify` for a `TaskEvent`. Only a damaged file contains other text. */
function toEvent(body: string): TaskEvent {
  try {
    const event: TaskEvent = JSON.parse(body);
    return event;
  } catch (error) {
    throw new SqliteFailure('SQLITE_CORRUPT', 'an event is not valid JSON', error);
  }
}
