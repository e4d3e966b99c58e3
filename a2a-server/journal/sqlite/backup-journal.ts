/** Writes a backup of a journal to one file, and restores a journal from a backup. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { newFileProblem } from '../../../shared/runtime/file-problem.ts';
import type { Sqlite } from '../../../shared/sqlite/driver.ts';
import { createPrivateFile } from '../../../shared/sqlite/private-file.ts';
import { withStorageErrors } from '../../../shared/sqlite/storage-error.ts';
import { JournalInUseError } from '../journal.ts';
import { integerColumn } from '../validate-column-values.ts';
import { COUNT_TASKS } from './delete-sessions.ts';
import { openJournalDatabase, withJournalDatabase } from './journal-database.ts';
import { makeFilePrivate, prepareJournalFile } from './journal-files.ts';
import { lockJournal, requireNoJournalOwner } from './journal-lock.ts';
import {
  type JournalLoss,
  copyWriteAheadLog,
  journalLossError,
  detectLostCommitsUnlocked,
  detectLostCommits,
  detectTruncatedJournalFile,
} from './journal-loss.ts';
import { type LastCommits, readLastCommits, removeLastCommits, fileSize } from './last-commits-file.ts';
import { migrate, requireCurrentSchema, requireNotEmpty } from './schema.ts';
import { journalReportOf, requireJournalFile, type JournalReport } from './verify-journal.ts';

const SUFFIXES = ['', '-wal', '-shm'] as const;
const DRAFT_FILE = /^a2a-server-draft-[0-9a-f]{12}(?:-wal|-shm|-journal)?$/;
const ABANDONED_AFTER_MS = 24 * 60 * 60_000;

export type JournalCopyReport = Omit<JournalReport, 'problems'> & { bytes: number };

/**
 * Copies the journal at `path`, including saved file contents, to the new file `target`. A server may append at the
 * same time, but the copy has the state of one moment. Only the owner can read the copy. The copy gets its final name
 * after it has been verified.
 * @throws ProductError CONFIGURATION if `target` exists, there is no journal, or the journal is damaged; STORAGE
 */
export function backupJournal(path: string, target: string): JournalCopyReport {
  requireJournalFile(path);
  if (existsSync(target))
    throw new ProductError('CONFIGURATION', `The file ${target} exists. Choose another name.`, {
      facts: { path: target },
    });
  const shortened = detectTruncatedJournalFile(path, readLastCommits(path));
  if (shortened !== undefined) throw journalLossError(path, shortened);
  return writeDraftAndRename(target, (draft) => {
    withOpenJournal(path, (database) => {
      const loss = detectLostCommitsUnlocked(database, path);
      if (loss !== undefined) throw journalLossError(path, loss, copyWriteAheadLog(path));
      database.command('VACUUM INTO ?')(draft);
    });
    return checkedCopy(draft, target);
  });
}

interface RestoreReport extends JournalCopyReport {
  /** The directory with the earlier journal. Absent if that journal had no tasks and no write-ahead log. */
  movedTo?: string;
}

/**
 * Replaces the journal at `path` with the backup `source`. Moves the earlier journal to another directory.
 * @param replace if true, the earlier journal may have tasks
 * @throws ProductError CONFIGURATION if a server uses the journal, the journal has tasks, or the backup is damaged.
 * Nothing has changed then. STORAGE if the disk fails. If the earlier journal was moved, this error names its
 * directory.
 */
export async function restoreJournal(
  source: string,
  path: string,
  { replace }: { replace: boolean },
): Promise<RestoreReport> {
  requireJournalFile(source);
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const place = existsSync(path) ? prepareJournalFile(path) : path;
  const lock = lockJournal(place);
  let movedTo: string | undefined;
  try {
    await requireUnused(place);
    const tasks = tasksAt(place);
    if (tasks !== 0 && !replace)
      throw new ProductError(
        'CONFIGURATION',
        `The journal ${place} ${tasks === undefined ? 'exists and cannot be read' : `has ${tasks} tasks`}. Nothing was changed. To move it away and use the backup, add --replace.`,
        { facts: { path: place } },
      );
    const report = writeDraftAndRename(place, (draft) => {
      copyFileSync(source, draft);
      // The write-ahead log is copied too, because after a crash of the server it contains the newest commits.
      if (existsSync(`${source}-wal`)) copyFileSync(`${source}-wal`, `${draft}-wal`);
      const checked = checkedCopy(draft, source);
      // The old last-commits file stays until the backup has its final name. Otherwise a server could start with an
      // empty journal after a crash.
      // The old files are deleted only if the journal has no tasks and there is no write-ahead log. A killed restore
      // may have moved the journal without its log, and the log then contains the newest commits. The copy of a
      // damaged log may contain lost tasks.
      const keep = tasks !== 0 || ['-wal', '-wal.damaged'].some((suffix) => fileSize(place + suffix) > 0);
      movedTo = moveAway(place, keep);
      return checked;
    });
    removeLastCommits(place);
    return { ...report, ...(movedTo !== undefined && { movedTo }) };
  } catch (error) {
    throw movedTo === undefined ? error : halfRestored(place, movedTo, error);
  } finally {
    lock.release();
  }
}

function halfRestored(path: string, movedTo: string, cause: unknown): ProductError {
  return new ProductError(
    'STORAGE',
    `The backup could not be put in place: ${errorMessageOf(cause)} The earlier journal is in ${movedTo}. Run the restore again, or move the files from there back to ${dirname(path)}.`,
    { facts: { path, movedTo }, cause },
  );
}

/**
 * If entries are missing, removes the last-commits file, so that a server starts in spite of the loss. Returns the
 * loss, or undefined if no entries are missing.
 * @throws ProductError CONFIGURATION if a server uses the journal; STORAGE
 */
export async function acceptJournalLoss(path: string): Promise<JournalLoss | undefined> {
  const place = existsSync(path) ? prepareJournalFile(path) : path;
  const mark = readLastCommits(place);
  if (mark === undefined) return undefined;
  const lock = lockJournal(place);
  try {
    await requireUnused(place);
    const loss =
      detectTruncatedJournalFile(place, mark) ?? (fileSize(place) === 0 ? undefined : missingIn(place, mark));
    if (loss !== undefined) removeLastCommits(place);
    return loss;
  } finally {
    lock.release();
  }
}

/**
 * Refuses a journal that a server uses. Finds this server even if the lock file was deleted.
 * @throws JournalInUseError
 */
async function requireUnused(path: string): Promise<void> {
  if (fileSize(path) === 0) return;
  let database: Sqlite;
  try {
    database = openJournalDatabase(path);
  } catch {
    return; // No server can use a file that is not a database.
  }
  try {
    await requireNoJournalOwner(database, path);
  } catch (error) {
    // Any other error means that the database names no owner: it is damaged, or it has an earlier version.
    if (error instanceof JournalInUseError) throw error;
  } finally {
    database.close();
  }
}

function missingIn(path: string, mark: LastCommits): JournalLoss | undefined {
  return withOpenJournal(path, (database) => {
    const loss = detectLostCommits(database, mark);
    if (loss !== undefined) copyWriteAheadLog(path);
    return loss;
  });
}

function withOpenJournal<Result>(path: string, read: (database: Sqlite) => Result): Result {
  return withStorageErrors(path, () =>
    withJournalDatabase(path, (database) => {
      requireCurrentSchema(database, path);
      return read(database);
    }),
  );
}

/** Returns the number of tasks in the journal. Undefined if the file exists but cannot be read. */
function tasksAt(path: string): number | undefined {
  if (fileSize(path) === 0) return 0;
  try {
    return withOpenJournal(path, (database) => integerColumn(database.query(COUNT_TASKS)()[0]?.[0]));
  } catch {
    return undefined;
  }
}

/** Upgrades the copy to this version if needed, and verifies all of it. @throws ProductError CONFIGURATION */
function checkedCopy(copy: string, name: string): JournalCopyReport {
  const { problems, ...report } = withStorageErrors(
    name,
    () =>
      withJournalDatabase(copy, (database) => {
        requireNotEmpty(database, name);
        migrate(database, name);
        const found = journalReportOf(database);
        // The mode DELETE needs no write-ahead log, so the backup is one file.
        database.exec('PRAGMA journal_mode = DELETE');
        return found;
      }),
    'The backup',
  );
  const [first] = problems;
  if (first === undefined) return { ...report, bytes: fileSize(copy) };
  throw new ProductError(
    'CONFIGURATION',
    `${name} is damaged, so it is not used: ${first} Use another backup. "a2a-server verify <file>" lists all problems.`,
    { facts: { path: name, problems: String(problems.length) } },
  );
}

/**
 * Moves the journal's files to a new directory next to them, and returns this directory. If `keep` is false, deletes
 * the files.
 */
function moveAway(path: string, keep: boolean): string | undefined {
  const files = [...SUFFIXES, '-wal.damaged'].map((suffix) => `${path}${suffix}`).filter(existsSync);
  if (!keep) {
    for (const file of files) rmSync(file);
    return undefined;
  }
  const directory = join(dirname(path), `replaced-${randomBytes(4).toString('hex')}`);
  mkdirSync(directory, { mode: 0o700 });
  for (const file of files) renameSync(file, join(directory, basename(file)));
  return directory;
}

/**
 * Calls `write` for a draft file next to `target`. Then makes the draft durable and renames it to `target`. Also removes
 * the drafts that killed processes have left there.
 */
function writeDraftAndRename<Result>(target: string, write: (draft: string) => Result): Result {
  const directory = dirname(resolve(target));
  const draft = join(directory, `a2a-server-draft-${randomBytes(6).toString('hex')}`);
  try {
    createPrivateFile(draft);
    removeAbandonedDrafts(directory, statSync(draft).mtimeMs);
    const result = write(draft);
    makeFilePrivate(draft);
    syncFile(draft);
    renameSync(draft, target);
    if (process.platform !== 'win32') syncFile(directory);
    return result;
  } catch (error) {
    if (error instanceof ProductError) throw error;
    throw new ProductError('STORAGE', `${target} cannot be written: ${newFileProblem(error)}.`, {
      cause: error,
    });
  } finally {
    for (const suffix of SUFFIXES) rmSync(`${draft}${suffix}`, { force: true });
  }
}

/**
 * Removes the drafts to which nothing was written for a day. Their processes may have run in other containers, so
 * process ids do not help. Files that cannot be removed, e.g. those of another user in /tmp, stay.
 * @param now the time of the file system's clock, in milliseconds since 1970
 */
function removeAbandonedDrafts(directory: string, now: number): void {
  try {
    for (const name of readdirSync(directory).filter((each) => DRAFT_FILE.test(each)))
      removeAbandonedDraft(join(directory, name), now);
  } catch {
    // The directory may permit new files, but no list of its files. Then all drafts stay.
  }
}

function removeAbandonedDraft(path: string, now: number): void {
  try {
    const { mtimeMs } = lstatSync(path);
    if (now - mtimeMs > ABANDONED_AFTER_MS) unlinkSync(path);
  } catch {
    // Another process may have removed the file, or this process has no right to remove it.
  }
}

function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
