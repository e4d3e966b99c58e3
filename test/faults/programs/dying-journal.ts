/** Replaces the journal of the server: the real journal with a SIGKILL at one append (see `death.ts`). */
import {
  openSqliteJournal as openReally,
  type SqliteJournalOptions,
} from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import type { Journal } from '../../../a2a-server/journal/journal.ts';
import { mortalWrites } from './death.ts';

export async function openSqliteJournal(options: SqliteJournalOptions): Promise<Journal> {
  const journal = await openReally(options);
  const append = journal.append.bind(journal);
  const mortal = mortalWrites();
  journal.append = (asked) => mortal.write(() => append(asked));
  return journal;
}
