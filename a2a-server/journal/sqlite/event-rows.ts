/**
 * Reads and writes the rows of the table `events`. A call of the driver takes longer than the insertion of a row, so
 * one statement inserts many events. For many adjacent events of one task, SQLite computes their `seq`. All other
 * events share a statement that has their `seq` as parameters.
 */
import type { RunStatement, RunQuery, Sqlite } from '../../../shared/sqlite/driver.ts';
import type { JournalEntry } from '../../task/events.ts';
import { type JournalPage, PAGE_ENTRIES, pageOfRows, selectPage } from '../journal-page.ts';
import { journalEntriesOfRow, MAX_EVENTS_PER_ROW } from '../packed-row.ts';

/**
 * The maximum length of the parameters of one statement, in UTF-16 code units. SQLite allows 10⁹ bytes for one value,
 * which is much more. With this limit, few statements are enough.
 */
const MAX_STATEMENT_UNITS = 8 * 1024 * 1024;

/**
 * The minimum number of adjacent events of one task for a separate statement. With fewer events, the shared statement
 * is cheaper.
 */
const MIN_RUN_EVENTS = 8;

export interface EventInsertStatements {
  run: RunStatement;
  mixed: RunStatement;
}

/** Prepares the statements that insert events. They store each body as text, so SQLite returns it unchanged. */
export function prepareEventInserts(database: Sqlite): EventInsertStatements {
  return {
    /** Parameters: the task, the first `seq`, the time, and a JSON list of bodies. */
    run: database.command(
      'INSERT INTO events (task, seq, at, body) SELECT ?1, ?2 + key, ?3, value FROM json_each(?4)',
    ),
    /** Parameters: the time, and a JSON list of `[task, seq, body]`. */
    mixed: database.command(
      `INSERT INTO events (task, seq, at, body)
       SELECT value ->> 0, value ->> 1, ?1, value ->> 2 FROM json_each(?2)`,
    ),
  };
}

export class EventRowInserter {
  readonly #at: number;
  readonly #inserts: EventInsertStatements;
  #mixed: string[] = [];
  #length = 0;

  constructor(at: number, inserts: EventInsertStatements) {
    this.#at = at;
    this.#inserts = inserts;
  }

  /** @param bodies the events as JSON. The first event has the `seq` `firstSeq`. */
  add(task: number, firstSeq: number, bodies: readonly string[]): void {
    if (bodies.length < MIN_RUN_EVENTS) this.#addMixed(task, firstSeq, bodies);
    else
      for (const { from, rows } of splitIntoStatements(bodies))
        this.#inserts.run(task, firstSeq + from, this.#at, rows);
  }

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
      if (this.#length > MAX_STATEMENT_UNITS) this.write();
    }
  }
}

/** Splits the bodies into JSON lists. A list ends when it exceeds the maximum statement length. */
function* splitIntoStatements(bodies: readonly string[]): Generator<{ from: number; rows: string }> {
  let from = 0;
  let length = 0;
  for (const [index, body] of bodies.entries()) {
    length += body.length;
    if (length <= MAX_STATEMENT_UNITS && index < bodies.length - 1) continue;
    yield { from, rows: JSON.stringify(bodies.slice(from, index + 1)) };
    from = index + 1;
    length = 0;
  }
}

const ENTRIES_PER_READ = 1_000;

// J1: there are no gaps, so the next `limit` entries end at `after + limit`. If a packed row contains the last of
// these entries, its key may be larger, because the key is the `seq` of the row's last entry.
const selectRows = (columns: string): string => `SELECT ${columns} FROM events
   WHERE task = (SELECT key FROM tasks WHERE task_id = ?1) AND seq > ?2 AND seq < ?2 + ?3 + ${MAX_EVENTS_PER_ROW}
     AND coalesce(first, seq) <= ?2 + ?3
   ORDER BY seq LIMIT ?3`;

export class EventRowReader {
  readonly #entries: RunQuery;
  readonly #page: RunQuery;

  constructor(database: Sqlite) {
    this.#entries = database.query(selectRows('seq, at, body, first'));
    this.#page = database.query(selectPage(selectRows));
  }

  readAll(taskId: string): JournalEntry[] {
    const entries: JournalEntry[] = [];
    for (;;) {
      const page = this.read(taskId, entries.length, ENTRIES_PER_READ);
      entries.push(...page);
      if (page.length < ENTRIES_PER_READ) return entries;
    }
  }

  read(taskId: string, after: number, limit: number): JournalEntry[] {
    return this.#entries(taskId, after, limit).flatMap((row) => journalEntriesOfRow(row, { after, limit }));
  }

  readPage(taskId: string, after: number): JournalPage {
    return pageOfRows(this.#page(taskId, after, PAGE_ENTRIES), after);
  }
}
