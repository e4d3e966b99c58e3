/** Stores how much each principal has written per UTC day, and how many bytes each task has. */
import type { RunStatement, Sqlite } from '../../../shared/sqlite/driver.ts';
import { KEPT_DAYS, type WrittenAmount } from '../written-amounts.ts';

/** Creates the table and the column. The count of a task from an earlier version begins with 0 bytes. */
export const CREATE_WRITTEN = `
  CREATE TABLE written (
    day       INTEGER NOT NULL,
    principal TEXT NOT NULL,
    events    INTEGER NOT NULL,
    bytes     INTEGER NOT NULL,
    PRIMARY KEY (day, principal)
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE tasks ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
`;

export class WrittenAmountsTable {
  readonly #add: RunStatement;
  readonly #removeBefore: RunStatement;
  /** The UTC day of the last `add`. */
  #day = 0;

  constructor(database: Sqlite) {
    this.#add = database.command(
      `INSERT INTO written (day, principal, events, bytes) VALUES (?, ?, ?, ?)
       ON CONFLICT (day, principal) DO UPDATE SET events = events + excluded.events, bytes = bytes + excluded.bytes`,
    );
    this.#removeBefore = database.command('DELETE FROM written WHERE day < ?');
  }

  /**
   * Adds to the amounts of this day. The first call on a day deletes the amounts of days before the last KEPT_DAYS
   * days.
   */
  add(day: number, principal: string, { events, bytes }: WrittenAmount): void {
    if (day !== this.#day) this.#removeBefore(day - KEPT_DAYS);
    this.#day = day;
    this.#add(day, principal, events, bytes);
  }
}
