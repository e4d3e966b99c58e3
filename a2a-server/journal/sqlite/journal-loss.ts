/** Compares a journal with its last-commits file, and describes the missing entries. */
import { isDeepStrictEqual } from 'node:util';
import { closeSync, copyFileSync, constants, openSync, readSync } from 'node:fs';
import { ProductError, errorCode } from '../../../shared/runtime/errors.ts';
import type { Sqlite } from '../../../shared/sqlite/driver.ts';
import { integerColumn } from '../validate-column-values.ts';
import { COUNT_TASKS } from './delete-sessions.ts';
import { type LastCommits, readLastCommits, fileSize } from './last-commits-file.ts';

/** Tasks or events that the last-commits file names and the journal lacks. */
export type JournalLoss =
  | { type: 'shortened'; bytes: number; expectedBytes: number }
  | { type: 'missing'; tasks: number; named: readonly string[]; shorter: readonly string[]; events: number };

const MAX_NAMED_TASKS = 5;
const HEADER_BYTES = 100;

/**
 * Detects a truncated file before SQLite opens it. `VACUUM` makes a file smaller too, but then the size in its header
 * is correct. This process must not have a lock on the file, because closing the file would release the lock.
 */
export function detectTruncatedJournalFile(
  path: string,
  commits: LastCommits | undefined,
): JournalLoss | undefined {
  const bytes = fileSize(path);
  if (commits === undefined || bytes >= commits.bytes || bytes >= sizeInHeader(path, bytes)) return undefined;
  return { type: 'shortened', bytes, expectedBytes: commits.bytes };
}

/** Reads the size from the database header (SQLite file format, §1.3). */
function sizeInHeader(path: string, bytes: number): number {
  if (bytes < HEADER_BYTES) return Infinity;
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  const pageSize = header.readUInt16BE(16);
  // The field has two bytes. The value 1 means 65,536.
  return (pageSize === 1 ? 65_536 : pageSize) * header.readUInt32BE(28);
}

/**
 * Compares the tasks of the journal with the last-commits file. Reads only the index: one count, and one row per task
 * in the file.
 */
export function detectLostCommits(
  database: Sqlite,
  commits: LastCommits | undefined,
): JournalLoss | undefined {
  if (commits === undefined) return undefined;
  const findSeq = database.query('SELECT seq FROM tasks WHERE task_id = ?');
  const count = integerColumn(database.query(COUNT_TASKS)()[0]?.[0]);
  const seqs = commits.recent.map(([taskId, seq]) => {
    const row = findSeq(taskId)[0];
    return { taskId, seq, found: row && integerColumn(row[0]) };
  });
  const named = seqs.filter(({ found }) => found === undefined).map(({ taskId }) => taskId);
  const shorter = seqs.filter(({ found, seq }) => found !== undefined && found < seq);
  const tasks = Math.max(commits.tasks - count, named.length);
  if (tasks === 0 && shorter.length === 0) return undefined;
  const events = shorter.reduce((sum, { seq, found = seq }) => sum + seq - found, 0);
  return { type: 'missing', tasks, named, shorter: shorter.map(({ taskId }) => taskId), events };
}

/**
 * Returns the missing entries of the journal at `path`, or undefined if nothing is missing. A server may use the
 * journal at the same time.
 *
 * A server removes the last-commits file before it deletes tasks. This function therefore reads the last-commits file
 * twice. It reports a loss only if the last-commits file has not changed.
 */
export function detectLostCommitsUnlocked(database: Sqlite, path: string): JournalLoss | undefined {
  for (;;) {
    const commits = readLastCommits(path);
    const loss = detectLostCommits(database, commits);
    if (loss === undefined || isDeepStrictEqual(readLastCommits(path), commits)) return loss;
  }
}

export function journalLossText(loss: JournalLoss): string {
  if (loss.type === 'shortened')
    return loss.bytes === 0
      ? `the file is missing or empty; before, it had ${loss.expectedBytes} bytes`
      : `the file has ${loss.bytes} bytes; before, it had ${loss.expectedBytes}`;
  const { tasks, named, shorter, events } = loss;
  const said: string[] = [];
  if (tasks > 0) said.push(`${countText(tasks, 'task is', 'tasks are')} missing${taskIdsText(named)}`);
  if (shorter.length > 0)
    said.push(
      `${countText(shorter.length, 'task has', 'tasks have')} lost ${countText(events, 'event', 'events')}${taskIdsText(shorter)}`,
    );
  return said.join(', and ');
}

/** Creates the error for a loss. @param keptLog the path of a copy of the write-ahead log, if it exists */
export function journalLossError(path: string, loss: JournalLoss, keptLog?: string): ProductError {
  const kept = keptLog === undefined ? '' : ` A copy of the write-ahead log is in ${keptLog}.`;
  return new ProductError(
    'CONFIGURATION',
    `The journal ${path} is damaged: ${journalLossText(loss)}.${kept} To restore a backup, run: a2a-server restore <file> --replace. To continue without the missing data, run: a2a-server verify --accept-loss.`,
    { facts: { path, loss: loss.type, ...(loss.type === 'missing' && { tasks: String(loss.tasks) }) } },
  );
}

/**
 * Copies the write-ahead log, because SQLite deletes the log when the last connection closes. An expert may recover
 * data from the part that SQLite did not read.
 */
export function copyWriteAheadLog(path: string): string | undefined {
  const copy = `${path}-wal.damaged`;
  if (fileSize(`${path}-wal`) === 0) return fileSize(copy) === 0 ? undefined : copy;
  try {
    copyFileSync(`${path}-wal`, copy, constants.COPYFILE_EXCL);
    return copy;
  } catch (error) {
    return errorCode(error) === 'EEXIST' ? copy : undefined;
  }
}

function countText(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function taskIdsText(ids: readonly string[]): string {
  if (ids.length === 0) return '';
  return ` (${ids.slice(0, MAX_NAMED_TASKS).join(', ')}${ids.length > MAX_NAMED_TASKS ? ', …' : ''})`;
}
