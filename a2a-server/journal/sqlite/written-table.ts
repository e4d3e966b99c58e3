/** Stores how much each principal has written per UTC day, and how many bytes each task has. */
import type { RunStatement, RunQuery, Sqlite } from '../../../shared/sqlite/driver.ts';
import { tenantOf } from '../../access/requester.ts';
import { integerColumn } from '../validate-column-values.ts';
import {
  KEPT_DAYS,
  NOTHING_WRITTEN,
  type DailyWrittenByScope,
  type WrittenAmount,
} from '../written-amounts.ts';

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
  readonly #sum: RunQuery;
  readonly #task: RunQuery;
  /** The UTC day of the last `add`. */
  #day = 0;

  constructor(database: Sqlite) {
    this.#add = database.command(
      `INSERT INTO written (day, principal, events, bytes) VALUES (?, ?, ?, ?)
       ON CONFLICT (day, principal) DO UPDATE SET events = events + excluded.events, bytes = bytes + excluded.bytes`,
    );
    this.#removeBefore = database.command('DELETE FROM written WHERE day < ?');
    this.#sum = database.query(
      `SELECT coalesce(sum(iif(principal = ?2, events, 0)), 0), coalesce(sum(iif(principal = ?2, bytes, 0)), 0),
              coalesce(sum(iif(substr(principal, 1, length(?3)) = ?3, events, 0)), 0),
              coalesce(sum(iif(substr(principal, 1, length(?3)) = ?3, bytes, 0)), 0),
              coalesce(sum(events), 0), coalesce(sum(bytes), 0)
       FROM written WHERE day = ?1`,
    );
    this.#task = database.query('SELECT seq, size FROM tasks WHERE task_id = ?');
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

  daily(principal: string, day: number): DailyWrittenByScope {
    const tenant = tenantOf(principal);
    const [row = []] = this.#sum(day, principal, tenant === undefined ? '' : `${tenant}/`);
    const at = (index: number): WrittenAmount => ({
      events: integerColumn(row[index]),
      bytes: integerColumn(row[index + 1]),
    });
    return { principal: at(0), ...(tenant !== undefined && { tenant: at(2) }), server: at(4) };
  }

  ofTask(taskId: string): WrittenAmount {
    const [row] = this.#task(taskId);
    return row === undefined
      ? NOTHING_WRITTEN
      : { events: integerColumn(row[0]), bytes: integerColumn(row[1]) };
  }
}
