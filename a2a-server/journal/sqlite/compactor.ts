/**
 * Packs the rows of long journals whose tasks wait for a person or have ended. S1, S2: readers get exactly the same
 * entries. Each transaction packs one part of a journal.
 */
import { integerColumn } from '../validate-column-values.ts';
import type { RunStatement, RunQuery, Sqlite } from '../../../shared/sqlite/driver.ts';
import { packedRowBody, findPackableEventRuns } from '../packed-row.ts';

export class Compactor {
  readonly #database: Sqlite;
  readonly #next: RunQuery;
  readonly #stretch: RunQuery;
  readonly #remove: RunStatement;
  readonly #insert: RunStatement;
  readonly #advance: RunStatement;

  constructor(database: Sqlite) {
    this.#database = database;
    // SQLite uses the index `tasks_to_pack` only if this condition is the same as in the index.
    this.#next = database.query(
      `SELECT key, packed, seq FROM tasks WHERE state NOT IN ('submitted', 'working') AND seq - packed >= 512 LIMIT 1`,
    );
    this.#stretch = database.query(
      'SELECT seq, at, body, first FROM events WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?',
    );
    this.#remove = database.command('DELETE FROM events WHERE task = ? AND seq BETWEEN ? AND ?');
    this.#insert = database.command('INSERT INTO events (task, seq, at, body, first) VALUES (?, ?, ?, ?, ?)');
    this.#advance = database.command('UPDATE tasks SET packed = ? WHERE key = ?');
  }

  /** Packs one part of one task. Returns the number of rows read, or 0 if there is nothing to pack. */
  step(limit: number): number {
    return this.#database.transaction(() => {
      const task = this.#next()[0];
      if (task === undefined) return 0;
      const key = integerColumn(task[0]);
      const rows = this.#stretch(key, integerColumn(task[1]), limit);
      for (const run of findPackableEventRuns(rows)) {
        const [first, last] = [run.entries[0], run.entries.at(-1)];
        if (first === undefined || last === undefined) continue;
        this.#remove(key, first.seq, last.seq);
        this.#insert(key, last.seq, last.at, packedRowBody(run), first.seq);
      }
      // If there are no rows, the index is damaged, and names events that do not exist. Then `packed` becomes the
      // task's `seq`, so that this task is not read again.
      this.#advance(integerColumn(rows.at(-1)?.[0] ?? task[2]), key);
      return Math.max(1, rows.length);
    });
  }
}
