/**
 * Stores the sums of costs, one row per principal, UTC day, session and model. Each append updates the rows in its own
 * transaction. A query for costs therefore reads no events.
 */
import { costsOfEvents, utcDay, type CostRow } from '../../task/costs/cost-sum.ts';
import type { DayCost, JournalEntry } from '../../task/events.ts';
import {
  ADD_COUNTS_ON_CONFLICT_SQL,
  COST_COLUMNS_SQL,
  COUNT_COLUMNS_SQL,
  DELETED_SESSIONS_ID,
} from '../cost-row.ts';
import { integerColumn, textColumn } from '../validate-column-values.ts';
import type { RunStatement, Sqlite } from '../../../shared/sqlite/driver.ts';

/** `budget_extensions.usd` is the highest cost of the day at which a person allowed more spending. */
export const CREATE_COSTS = `
  CREATE TABLE costs (
    principal           TEXT NOT NULL,
    day                 INTEGER NOT NULL,
    session_id          TEXT NOT NULL,
    model               TEXT NOT NULL,
    requests            INTEGER NOT NULL,
    input_tokens        INTEGER NOT NULL,
    output_tokens       INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    cache_write_tokens  INTEGER NOT NULL,
    known_usd           REAL NOT NULL,
    unpriced            INTEGER NOT NULL,
    PRIMARY KEY (principal, day, session_id, model)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX costs_of_a_session ON costs (principal, session_id);
  CREATE TABLE budget_extensions (
    principal TEXT NOT NULL,
    day       INTEGER NOT NULL,
    usd       REAL NOT NULL,
    PRIMARY KEY (principal, day)
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE tasks ADD COLUMN model TEXT;
`;

export class CostTable {
  readonly #add: RunStatement;
  readonly #extend: RunStatement;
  readonly #merge: RunStatement;
  readonly #remove: RunStatement;

  constructor(database: Sqlite) {
    this.#add = database.command(
      `INSERT INTO costs (principal, ${COST_COLUMNS_SQL}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${ADD_COUNTS_ON_CONFLICT_SQL}`,
    );
    this.#extend = database.command(
      `INSERT INTO budget_extensions (principal, day, usd) VALUES (?, ?, ?)
       ON CONFLICT (principal, day) DO UPDATE SET usd = max(usd, excluded.usd)`,
    );
    this.#merge = database.command(
      `INSERT INTO costs (principal, ${COST_COLUMNS_SQL})
       SELECT principal, day, '${DELETED_SESSIONS_ID}', model, ${COUNT_COLUMNS_SQL} FROM costs WHERE principal = ? AND session_id = ? ${ADD_COUNTS_ON_CONFLICT_SQL}`,
    );
    this.#remove = database.command('DELETE FROM costs WHERE principal = ? AND session_id = ?');
  }

  add(principal: string, row: CostRow): void {
    const { day, sessionId, model, requests, inputTokens, outputTokens } = row;
    const { cachedInputTokens, cacheWriteTokens, knownUsd, unpriced } = row;
    const about = [day, sessionId ?? DELETED_SESSIONS_ID, model, requests];
    const tokens = [inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens];
    this.#add(principal, ...about, ...tokens, knownUsd, unpriced);
  }

  /**
   * Records that a person allowed more spending on this day. If the person answered several questions, the question
   * with the highest cost applies.
   */
  extendDay(principal: string, { day, usd }: DayCost): void {
    this.#extend(principal, day, usd);
  }

  /** Adds a session's sums to the sums of all deleted sessions. Returns the number of removed rows. */
  forgetSession(principal: string, sessionId: string): number {
    this.#merge(principal, sessionId);
    return this.#remove(principal, sessionId);
  }
}

/** The number of events that the migration reads together. It is small, because one event may have megabytes. */
const EVENTS_PER_READ = 200;

/**
 * Computes the sums from the events, once per journal. If `costs` gets a new column later, this migration must still
 * write only the old columns.
 */
export function countOldCosts(database: Sqlite): void {
  const costs = new CostTable(database);
  const useModel = database.command('UPDATE tasks SET model = ? WHERE key = ?');
  // A text search finds the events with costs, and the JSON parser reads them, because SQLite's JSON functions fail for
  // deeply nested events.
  const find = database.query(
    `SELECT seq, at, body FROM events
     WHERE task = ? AND seq > ? AND first IS NULL
       AND (instr(body, '"turn.started"') OR instr(body, '"turn.finished"') OR instr(body, '"context.summarised"'))
     ORDER BY seq LIMIT ${EVENTS_PER_READ}`,
  );
  // An empty principal means that the task is deleted.
  const tasks = database.query(
    "SELECT key, principal, session_id FROM tasks WHERE principal <> '' ORDER BY key",
  )();
  for (const task of tasks) {
    const [key, principal, sessionId] = [integerColumn(task[0]), textColumn(task[1]), textColumn(task[2])];
    let openModel: string | null = null;
    for (let after = 0; ;) {
      const page = find(key, after).map((row): JournalEntry => ({
        seq: integerColumn(row[0]),
        at: integerColumn(row[1]),
        event: JSON.parse(textColumn(row[2])),
      }));
      for (const { at, event } of page) {
        const counted = costsOfEvents([event], openModel);
        ({ openModel } = counted);
        for (const { model, cost } of counted.costs)
          costs.add(principal, { day: utcDay(at), sessionId, model, ...cost });
      }
      after = page.at(-1)?.seq ?? after;
      if (page.length < EVENTS_PER_READ) break;
    }
    if (openModel !== null) useModel(openModel, key);
  }
}
