/**
 * Records the actions whose preview was incomplete in a tool result. D5: a person can approve only what is shown in full.
 * So no tool call can approve such an action until the client has received the complete preview in a later result. All
 * bridges of the user share these rows.
 */
import type { BridgeDatabase } from './database.ts';

/** How long a row is kept, in milliseconds. No action waits longer. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

export class IncompletePreviewRecords {
  readonly #database: BridgeDatabase;

  constructor(database: BridgeDatabase) {
    this.#database = database;
  }

  /**
   * Records that the preview of an action was incomplete.
   * @param shown the code of the action
   * @throws ProductError STORAGE. The preview must not be shown then.
   */
  add(taskId: string, shown: string): void {
    if (this.has(taskId, shown)) return;
    this.#database.forget('cut_previews', KEPT_MS);
    this.#database.run(
      'INSERT OR IGNORE INTO cut_previews (task_id, shown, at) VALUES (?, ?, ?)',
      taskId,
      shown,
      Date.now(),
    );
  }

  has(taskId: string, shown: string): boolean {
    return (
      this.#database.rows('SELECT 1 FROM cut_previews WHERE task_id = ? AND shown = ?', taskId, shown)
        .length > 0
    );
  }

  /**
   * Records that a later result has shown the preview in full. If this write fails, the row stays, and a tool call
   * still cannot approve the action.
   */
  delete(taskId: string, shown: string): void {
    this.#database
      .inOneCommit(
        () =>
          void this.#database.run('DELETE FROM cut_previews WHERE task_id = ? AND shown = ?', taskId, shown),
      )
      .catch(() => undefined);
  }
}
