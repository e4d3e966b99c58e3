/**
 * Checks whether a bridge may have left work open. A starting bridge checks one file instead of opening the database.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

export const databasePath = (stateDirectory: string): string => join(stateDirectory, 'bridge.db');

/**
 * Returns true if the write-ahead log has content. A bridge that ends normally without an open delegation empties this
 * log. So its bridge was killed, still runs, or left a delegation open.
 */
export async function wasLeftOpen(stateDirectory: string): Promise<boolean> {
  return stat(`${databasePath(stateDirectory)}-wal`).then(
    ({ size }) => size > 0,
    () => false,
  );
}
