/**
 * Stands in for the journal that the server opens: the real one, and a SIGKILL at one append. `FAULTS_DIE_AT` says
 * where: `before:3`, when the third append of this process is asked for, or `after:3`, when it is durable and nobody has
 * been told.
 */
import {
  openSqliteJournal as openReally,
  type SqliteJournalOptions,
} from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import type { Journal } from '../../../a2a-server/journal/journal.ts';

const PLACE = /^(before|after):(\d+)$/;

export async function openSqliteJournal(options: SqliteJournalOptions): Promise<Journal> {
  const journal = await openReally(options);
  const [, side, number] = PLACE.exec(process.env['FAULTS_DIE_AT'] ?? '') ?? [];
  if (side === undefined) return journal;
  const last = Number(number);
  const append = journal.append.bind(journal);
  let appends = 0;
  journal.append = async (asked) => {
    const now = ++appends === last;
    if (now && side === 'before') await die();
    const result = await append(asked);
    if (now) await die();
    return result;
  };
  return journal;
}

/** The signal ends the process before anything else happens in it. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}
