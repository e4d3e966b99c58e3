/**
 * The events of one transaction, gathered to be inserted by few statements: a call into the driver costs more than
 * SQLite's own work on a row.
 */
import type { Command } from './driver.ts';

/** In UTF-16 code units. Far below SQLite's limit of 10⁹ bytes for one value, and large enough to make calls few. */
const LONGEST_STATEMENT = 8 * 1024 * 1024;

export class EventRows {
  /** Takes the time of the entries, and a JSON list of `[task, seq, body]`. */
  static readonly INSERT = `
    INSERT INTO events (task, seq, at, body)
    SELECT value ->> 0, value ->> 1, ?1, value ->> 2 FROM json_each(?2)`;

  readonly #at: number;
  readonly #insert: Command;
  #rows: string[] = [];
  #length = 0;

  constructor(at: number, insert: Command) {
    this.#at = at;
    this.#insert = insert;
  }

  /** @param bodies JSON of the events; each goes in as a text, so that SQLite gives it back letter for letter */
  add(task: number, firstSeq: number, bodies: readonly string[]): void {
    bodies.forEach((body, index) => {
      const row = `[${task},${firstSeq + index},${JSON.stringify(body)}]`;
      this.#rows.push(row);
      this.#length += row.length;
      if (this.#length > LONGEST_STATEMENT) this.write();
    });
  }

  write(): void {
    if (this.#rows.length === 0) return;
    this.#insert(this.#at, `[${this.#rows.join(',')}]`);
    this.#rows = [];
    this.#length = 0;
  }
}
