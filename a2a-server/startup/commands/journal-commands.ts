import { join, resolve } from 'node:path';
import { countWithNoun } from '../../../shared/text/one-line.ts';
import { prepareStateDirectory } from '../../../shared/state/state-directory.ts';
import {
  acceptJournalLoss,
  backupJournal,
  restoreJournal,
  type JournalCopyReport,
} from '../../journal/sqlite/backup-journal.ts';
import { journalLossText } from '../../journal/sqlite/journal-loss.ts';
import { verifyJournal } from '../../journal/sqlite/verify-journal.ts';
import type { CommandOutput } from './command-output.ts';

const journalIn = (stateDir: string): string => join(stateDir, 'journal.db');

export interface JournalCommandContext extends CommandOutput {
  stateDir: string;
  json: boolean;
}

/** Implements `a2a-server backup`. @throws ProductError CONFIGURATION, STORAGE */
export function runBackup(file: string, { stateDir, json, say, sayJson }: JournalCommandContext): void {
  const target = resolve(file);
  const report = backupJournal(journalIn(stateDir), target);
  if (json) return sayJson({ file: target, ...report });
  say(
    `${copyCountsText(report)} are in ${target}. It contains everything that tasks read and wrote, but no token. Keep it as private as the state directory.`,
  );
}

/**
 * Implements `a2a-server verify`. Returns true if the file has no damage.
 * @param file a backup. If absent, the command checks the journal of the state directory.
 * @throws ProductError CONFIGURATION, STORAGE
 */
export async function runVerify(
  { file, accept }: { file: string | undefined; accept: boolean },
  { stateDir, json, say, sayJson }: JournalCommandContext,
): Promise<boolean> {
  const path = file === undefined ? journalIn(stateDir) : resolve(file);
  const loss = accept && file === undefined ? await acceptJournalLoss(path) : undefined;
  const accepted = loss && journalLossText(loss);
  if (!json && accepted !== undefined) say(`The next server starts without the missing data: ${accepted}.`);
  // If the journal file is missing, there is no data to check.
  if (loss?.type === 'shortened' && loss.bytes === 0) {
    if (json) sayJson({ file: path, ok: true, accepted });
    return true;
  }
  const { problems, ...report } = verifyJournal(path);
  const ok = problems.length === 0;
  if (json) sayJson({ file: path, ok, ...report, problems, ...(accepted !== undefined && { accepted }) });
  else if (ok) say(`${path} is not damaged: ${copyCountsText(report)}.`);
  else say([`${path} is damaged (${copyCountsText(report)}):`, ...problems].join('\n'));
  return ok;
}

/** Implements `a2a-server restore`. @throws ProductError CONFIGURATION, STORAGE */
export async function runRestore(
  file: string,
  { replace }: { replace: boolean },
  { stateDir, json, say, sayJson }: JournalCommandContext,
): Promise<void> {
  await prepareStateDirectory(stateDir);
  const source = resolve(file);
  const report = await restoreJournal(source, journalIn(stateDir), { replace });
  if (json) return sayJson({ file: source, stateDirectory: stateDir, ...report });
  const moved = report.movedTo === undefined ? '' : ` The earlier journal is in ${report.movedTo}.`;
  say(
    `${copyCountsText(report)} are in ${stateDir}.${moved} They continue when a server starts there. Do not also run the server of the backup, because both would do the same work.`,
  );
}

function copyCountsText({ tasks, live, entries, contents }: JournalCopyReport): string {
  return `${countWithNoun(tasks, 'task')} (${live} not ended), ${countWithNoun(entries, 'event')} and ${countWithNoun(contents, 'saved content')}`;
}
