/** Records which entries of the inbox a notification has shown. All bridges of the user share the rows. */
import type { BridgeDatabase } from './database.ts';

/** The time that a row is kept, in milliseconds. */
const KEPT_MS = 90 * 24 * 60 * 60_000;

export class ShownEntries {
  readonly #database: BridgeDatabase;

  constructor(database: BridgeDatabase) {
    this.#database = database;
    database.forget('shown_entries', KEPT_MS);
  }

  /** Records the entry. @returns false if it is recorded already. @throws ProductError STORAGE */
  add(key: string): boolean {
    return (
      this.#database.run('INSERT OR IGNORE INTO shown_entries (key, at) VALUES (?, ?)', key, Date.now()) === 1
    );
  }
}
