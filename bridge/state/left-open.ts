/** Whether a bridge may have left work open. A starting bridge checks one file and opens no database. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

export const databasePath = (stateDirectory: string): string => join(stateDirectory, 'bridge.db');

/**
 * A bridge that ends normally with no delegation open empties the write-ahead log. So a log with content belongs to a
 * bridge that was killed, that runs, or that left a delegation open.
 */
export async function wasLeftOpen(stateDirectory: string): Promise<boolean> {
  return stat(`${databasePath(stateDirectory)}-wal`).then(
    ({ size }) => size > 0,
    () => false,
  );
}
