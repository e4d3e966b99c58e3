/** Checks whether a server can open a journal. Changes nothing. */
import { withStorageErrors } from '../../../shared/sqlite/storage-error.ts';
import { withJournalDatabase } from './journal-database.ts';
import { journalLossError, detectLostCommitsUnlocked, detectTruncatedJournalFile } from './journal-loss.ts';
import { readLastCommits, fileSize } from './last-commits-file.ts';
import { requireKnownSchema } from './schema.ts';

/**
 * Compares the journal with its last-commits file, as a server does at its start. A server may use the journal at the
 * same time.
 * @throws ProductError CONFIGURATION, STORAGE. The next start of the server would fail with the same error.
 */
export function requireOpenableJournal(path: string): void {
  const shortened = detectTruncatedJournalFile(path, readLastCommits(path));
  if (shortened !== undefined) throw journalLossError(path, shortened);
  if (fileSize(path) === 0) return;
  withStorageErrors(path, () =>
    withJournalDatabase(path, (database) => {
      database.exec('PRAGMA query_only = ON');
      const version = requireKnownSchema(database, path);
      if (version === 'earlier') return; // The next start upgrades the journal.
      const loss = detectLostCommitsUnlocked(database, path);
      if (loss !== undefined) throw journalLossError(path, loss);
    }),
  );
}
