/**
 * Checks whether an earlier bridge may have left work: a delegation whose result no client has. A starting bridge only
 * looks at one file for this, and does not open the database.
 */
import { stat } from 'node:fs/promises';
import { databasePath } from './database-path.ts';

/**
 * Returns true if the write-ahead log of the database has content. A bridge that ends normally and without an open
 * delegation empties this log. So a bridge was killed, still runs, or has left a delegation open.
 */
export async function mayEarlierBridgeHaveLeftWork(stateDirectory: string): Promise<boolean> {
  return stat(`${databasePath(stateDirectory)}-wal`).then(
    ({ size }) => size > 0,
    () => false,
  );
}
