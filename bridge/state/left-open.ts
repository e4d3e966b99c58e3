/** Checks whether a bridge may have left work open. A bridge checks one file at its start, and opens no database. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

export const databasePath = (stateDirectory: string): string => join(stateDirectory, 'bridge.db');

/**
 * A bridge that ends normally without an open delegation empties the write-ahead log. So a log with content has one of
 * three reasons: its bridge was killed, still runs, or left a delegation open.
 */
export async function wasLeftOpen(stateDirectory: string): Promise<boolean> {
  return stat(`${databasePath(stateDirectory)}-wal`).then(
    ({ size }) => size > 0,
    () => false,
  );
}
