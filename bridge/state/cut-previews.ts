/**
 * The questions whose preview a tool's result has cut. Nobody has seen such a preview in full. So a tool call cannot
 * approve the action (D5), even if a later result has room for the preview. All bridges of the user share the rows.
 */
import type { BridgeDatabase } from './database.ts';

/** In milliseconds. No action waits that long. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

export class CutPreviews {
  readonly #database: BridgeDatabase;

  constructor(database: BridgeDatabase) {
    this.#database = database;
  }

  /** @param shown the code of the question. @throws ProductError STORAGE: the preview must not be shown then */
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
   * A later result has shown the preview in full. If the write fails, the row stays, and the tool call still cannot
   * approve.
   */
  delete(taskId: string, shown: string): void {
    this.#database
      .together(
        () =>
          void this.#database.run('DELETE FROM cut_previews WHERE task_id = ? AND shown = ?', taskId, shown),
      )
      .catch(() => undefined);
  }
}
