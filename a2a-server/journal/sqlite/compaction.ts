/**
 * Packs the rows of long journals whose tasks stand still. What a reader is given stays the same to the letter (S1, S2): a
 * stretch is replaced in one transaction, and nothing but its rows changes.
 */
import { integer } from './columns.ts';
import type { Command, Query, Sqlite } from './driver.ts';
import { toEntries } from './entry-reader.ts';
import { pack, runsIn } from './packed-row.ts';

export class Compaction {
  readonly #database: Sqlite;
  readonly #next: Query;
  readonly #stretch: Query;
  readonly #remove: Command;
  readonly #insert: Command;
  readonly #advance: Command;

  constructor(database: Sqlite) {
    this.#database = database;
    // As the index `tasks_to_pack` says it, or it would not be used.
    this.#next = database.query(
      `SELECT key, packed FROM tasks WHERE state NOT IN ('submitted', 'working') AND seq - packed >= 512 LIMIT 1`,
    );
    this.#stretch = database.query(
      'SELECT seq, at, body, first FROM events WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?',
    );
    this.#remove = database.command('DELETE FROM events WHERE task = ? AND seq BETWEEN ? AND ?');
    this.#insert = database.command('INSERT INTO events (task, seq, at, body, first) VALUES (?, ?, ?, ?, ?)');
    this.#advance = database.command('UPDATE tasks SET packed = ? WHERE key = ?');
  }

  /** Packs one stretch of one task. @returns how many entries it looked at; 0: there is nothing to pack. */
  step(limit: number): number {
    return this.#database.transaction(() => {
      const task = this.#next()[0];
      if (task === undefined) return 0;
      const key = integer(task[0]);
      const entries = this.#stretch(key, integer(task[1]), limit).flatMap((row) => toEntries(row));
      for (const run of runsIn(entries)) {
        const [first, last] = [run.entries[0], run.entries.at(-1)];
        if (first === undefined || last === undefined) continue;
        this.#remove(key, first.seq, last.seq);
        this.#insert(key, last.seq, last.at, pack(run), first.seq);
      }
      this.#advance(entries.at(-1)?.seq ?? integer(task[1]), key);
      return entries.length;
    });
  }
}
