/** Checks the bridge's database. Does not create one. */
import { stat } from 'node:fs/promises';
import { countWithNoun } from '../../../shared/text/one-line.ts';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import { BridgeDatabase } from '../../state/database.ts';
import { databasePath } from '../../state/database-path.ts';
import { Outbox } from '../../state/outbox.ts';
import { failCheckResult, type CheckResult, okCheckResult } from '../../../shared/runtime/check-result.ts';

const SUBJECT = 'bridge database';

/**
 * Checks the permissions of the bridge's database, and opens it. Returns undefined if there is no database yet. The
 * first tool call creates it.
 */
export async function checkDatabase(stateDirectory: string): Promise<CheckResult | undefined> {
  const path = databasePath(stateDirectory);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    return failCheckResult(SUBJECT, `${path} can be read by other users`, `Run: chmod 600 ${path}`);
  try {
    const database = await BridgeDatabase.open(stateDirectory);
    try {
      const open = new Outbox(database).open().length;
      return okCheckResult(
        SUBJECT,
        `${path}, ${countWithNoun(open, 'delegation')} whose result no client has collected`,
      );
    } finally {
      database.close();
    }
  } catch (error) {
    return failCheckResult(
      SUBJECT,
      errorMessageOf(error),
      'Do what the message says. The tasks on the servers are safe.',
    );
  }
}
