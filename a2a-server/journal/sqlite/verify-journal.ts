/** Verifies a whole journal: the file, each task's events, and the saved file contents. */
import { statSync } from 'node:fs';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { sha256 } from '../../../shared/runtime/sha256.ts';
import type { RunQuery, Sqlite } from '../../../shared/sqlite/driver.ts';
import { withStorageErrors } from '../../../shared/sqlite/storage-error.ts';
import type { JournalEntry } from '../../task/events.ts';
import { contentHashesOfEvent } from '../../task/event-content-hashes.ts';
import { foldAll } from '../../task/fold.ts';
import { isTerminal } from '../../task/snapshot.ts';
import { buildTaskRow } from '../build-task-row.ts';
import { RecomputedCosts } from './check-costs.ts';
import { bytesColumn, integerColumn, textColumn } from '../validate-column-values.ts';
import { HIDDEN_PRINCIPAL } from './delete-sessions.ts';
import { EventRowReader } from './event-rows.ts';
import { withJournalDatabase } from './journal-database.ts';
import { detectLostCommitsUnlocked, journalLossText } from './journal-loss.ts';
import { fileSize } from './last-commits-file.ts';
import { requireCurrentSchema } from './schema.ts';

export interface JournalReport {
  tasks: number;
  live: number;
  entries: number;
  contents: number;
  /** The problems that were found, one sentence each. Empty if the journal is correct. */
  problems: string[];
}

/** The maximum number of reported problems. A damaged file may have very many. */
const MAX_PROBLEMS = 20;

/**
 * Verifies the journal at `path` and changes nothing. A server may use the journal at the same time.
 * @throws ProductError CONFIGURATION if there is no journal or its version differs; STORAGE if it cannot be opened
 */
export function verifyJournal(path: string): JournalReport & { bytes: number } {
  requireJournalFile(path);
  return withStorageErrors(path, () =>
    withJournalDatabase(path, (database) => {
      database.exec('PRAGMA query_only = ON');
      requireCurrentSchema(database, path);
      // One transaction reads one state, even if a server writes at the same time.
      database.exec('BEGIN');
      const report = journalReportOf(database);
      database.exec('COMMIT');
      const loss = detectLostCommitsUnlocked(database, path);
      if (loss !== undefined) report.problems.push(`${capitalized(journalLossText(loss))}.`);
      return { ...report, bytes: fileSize(path) };
    }),
  );
}

/** Refuses a missing file, because SQLite would create it. @throws ProductError CONFIGURATION */
export function requireJournalFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return;
  throw new ProductError('CONFIGURATION', `There is no file ${path}. Check its path, or --state-dir.`, {
    facts: { path },
  });
}

/** Verifies an open journal. @throws SqliteError if the index of the tasks cannot be read */
export function journalReportOf(database: Sqlite): JournalReport {
  const problems = [
    ...textsOf(database.query(`PRAGMA integrity_check(${MAX_PROBLEMS})`)).filter((line) => line !== 'ok'),
    ...database
      .query('PRAGMA foreign_key_check')()
      .slice(0, MAX_PROBLEMS)
      .map((row) => `A row of ${String(row[0])} belongs to no task.`),
  ];
  const reader = new EventRowReader(database);
  // The server has deleted the hidden tasks, and removes their events later.
  const rows = database.query(
    `SELECT task_id, state, seq, session_id, principal, key FROM tasks WHERE principal <> '${HIDDEN_PRINCIPAL}' ORDER BY key`,
  )();
  const hashes = database.query('SELECT hash FROM contents WHERE task = ?');
  const costs = new RecomputedCosts();
  let [live, entries] = [0, 0];
  for (const row of rows) {
    const task = { taskId: textColumn(row[0]), state: textColumn(row[1]), seq: integerColumn(row[2]) };
    const owner = { sessionId: textColumn(row[3]), principal: textColumn(row[4]) };
    try {
      const found = reader.readAll(task.taskId);
      entries += found.length;
      costs.add(owner, found);
      const problem = problemOf({ ...task, ...owner }, found);
      if (problem !== undefined) problems.push(problem);
      const saved = new Set(hashes(integerColumn(row[5])).map(([hash]) => textColumn(hash)));
      problems.push(...missingContents(task.taskId, found, saved));
      const snapshot = foldAll(task.taskId, found);
      if (snapshot !== undefined && !isTerminal(snapshot)) live += 1;
    } catch (error) {
      problems.push(`The events of task ${task.taskId} cannot be read: ${errorMessageOf(error)}.`);
    }
  }
  // Missing events make the sums wrong too. The sums are therefore reported only if there is no other problem.
  if (problems.length === 0) problems.push(...costs.differences(database));
  const contents = checkContents(database, problems);
  return { tasks: rows.length, live, entries, contents, problems: problems.slice(0, MAX_PROBLEMS) };
}

interface IndexedTask {
  taskId: string;
  state: string;
  seq: number;
  sessionId: string;
  principal: string;
}

/** Returns the first problem of a task. J1: its `seq` must have no gap. J2: its row must follow from its events. */
function problemOf(task: IndexedTask, entries: readonly JournalEntry[]): string | undefined {
  const gap = entries.findIndex(({ seq }, index) => seq !== index + 1);
  if (gap >= 0) return `Task ${task.taskId} has no event ${gap + 1}.`;
  if (entries.length !== task.seq)
    return `Task ${task.taskId} has ${entries.length} events, and its index says ${task.seq}.`;
  const row = buildTaskRow(task.taskId, entries);
  if (row === undefined || foldAll(task.taskId, entries) === undefined)
    return `The events of task ${task.taskId} do not start a task.`;
  const same =
    row.state === task.state && row.sessionId === task.sessionId && row.principal === task.principal;
  return same ? undefined : `The index of task ${task.taskId} differs from its events.`;
}

/** Returns a problem for each content that the events name and the journal does not have. */
function missingContents(
  taskId: string,
  entries: readonly JournalEntry[],
  saved: ReadonlySet<string>,
): string[] {
  const named = new Set(entries.flatMap(({ event }) => contentHashesOfEvent(event)));
  return [...named]
    .filter((hash) => !saved.has(hash))
    .map((hash) => `Task ${taskId} names the content ${hash} of a file, and the journal does not have it.`);
}

/** Adds a problem for each content that does not match its hash. Returns the number of contents. */
function checkContents(database: Sqlite, problems: string[]): number {
  const keys = database.query('SELECT rowid FROM contents')();
  const find = database.query('SELECT hash, bytes FROM contents WHERE rowid = ?');
  for (const [key] of keys) {
    try {
      const [hash, bytes] = find(integerColumn(key))[0] ?? [];
      if (sha256(bytesColumn(bytes)) !== textColumn(hash))
        problems.push(`The saved content ${textColumn(hash)} of a file is damaged.`);
    } catch (error) {
      problems.push(`A saved content of a file cannot be read: ${errorMessageOf(error)}.`);
    }
  }
  return keys.length;
}

function textsOf(query: RunQuery): string[] {
  return query().map((row) => textColumn(row[0]));
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
