/**
 * A journal as it lies on disk, to be looked through beside the server that owns it, or without one: nothing is created,
 * changed, or held against its owner. Each task is read as of when it is asked for.
 */
import { existsSync } from 'node:fs';
import { ProductError } from '../../../shared/errors.ts';
import type { JournalEntry } from '../../task/events.ts';
import { text } from './columns.ts';
import { openSqlite } from './driver.ts';
import { EntryReader } from './entry-reader.ts';
import { requireCurrent } from './schema.ts';
import { storing } from './storage-error.ts';

export interface PastJournal {
  /** Every task's id, the oldest first. */
  taskIds(): string[];
  entries(taskId: string): JournalEntry[];
  close(): void;
}

/** A writer holds the lock for milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;
const PAGE = 1_000;

/** @throws ProductError CONFIGURATION where there is no journal, or one of another version; STORAGE when it cannot be read */
export function openPastJournal(path: string): PastJournal {
  if (!existsSync(path))
    throw new ProductError(
      'CONFIGURATION',
      `There is no journal ${path}: no server has kept its state there.`,
    );
  return storing(path, () => {
    const database = openSqlite(path, { busyTimeoutMs: BUSY_TIMEOUT_MS });
    try {
      database.exec('PRAGMA query_only = ON');
      requireCurrent(database, path);
      const reader = new EntryReader(database);
      const ids = database.query('SELECT task_id FROM tasks ORDER BY key');
      return {
        taskIds: () => storing(path, () => ids().map((row) => text(row[0]))),
        entries: (taskId) => storing(path, () => allOf(reader, taskId)),
        close: () => database.close(),
      };
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

function allOf(reader: EntryReader, taskId: string): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (;;) {
    const page = reader.read(taskId, entries.length, PAGE);
    entries.push(...page);
    if (page.length < PAGE) return entries;
  }
}
