/**
 * Records the permits that were used to start a task. Each permit starts only one task. All bridges of the user share
 * these rows.
 */
import type { BridgeDatabase } from './database.ts';

/** How long a row is kept, in milliseconds. A signed permit is valid for only one hour (`request-state.ts`). */
const KEPT_MS = 24 * 60 * 60_000;

export class UsedPermits {
  readonly #database: BridgeDatabase;

  constructor(database: BridgeDatabase) {
    this.#database = database;
  }

  /**
   * Records that a permit was used. Returns false if it was used before.
   * @throws ProductError STORAGE. No task may be started then.
   */
  use(permit: string): boolean {
    this.#database.forget('used_permits', KEPT_MS);
    const added = this.#database.run(
      'INSERT OR IGNORE INTO used_permits (permit, at) VALUES (?, ?)',
      permit,
      Date.now(),
    );
    return added === 1;
  }
}
