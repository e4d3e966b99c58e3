/** Records which entries of the inbox a desktop notification has shown. All bridges of the user share these rows. */
import type { BridgeDatabase } from './database.ts';

/** How long a row is kept, in milliseconds. */
const KEPT_MS = 90 * 24 * 60 * 60_000;

export class NotifiedEntryRecords {
  readonly #database: BridgeDatabase;

  constructor(database: BridgeDatabase) {
    this.#database = database;
    database.forget('shown_entries', KEPT_MS);
  }

  /** Records that the entry was shown. Returns false if it was recorded before. @throws ProductError STORAGE */
  add(key: string): boolean {
    return (
      this.#database.run('INSERT OR IGNORE INTO shown_entries (key, at) VALUES (?, ?)', key, Date.now()) === 1
    );
  }
}
