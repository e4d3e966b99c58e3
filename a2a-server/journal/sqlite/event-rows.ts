/**
 * Collects the events of one transaction and inserts them with few statements, because a driver call costs more than the
 * row itself. A long run of a task's events has its own statement, and SQLite counts `seq`. Short runs share a statement, and
 * each event carries its `seq`.
 */
import type { Command, Sqlite } from '../../../shared/sqlite/driver.ts';

/** In UTF-16 code units. Far below SQLite's limit of 10⁹ bytes for one value, but large enough for few calls. */
const LONGEST_STATEMENT = 8 * 1024 * 1024;

/** From this number of events on, a separate statement is cheaper. */
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

/** Splits the bodies into JSON lists of at most about the statement limit. */
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
