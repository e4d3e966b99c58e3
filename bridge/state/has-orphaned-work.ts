import { BridgeDatabase } from './database.ts';
import { Outbox } from './outbox.ts';

/**
 * Returns true if processes that have ended left delegations open.
 * @throws ProductError if the database cannot be opened or read
 */
export async function hasOrphanedWork(stateDirectory: string): Promise<boolean> {
  const database = await BridgeDatabase.open(stateDirectory);
  try {
    return await new Outbox(database).hasOrphanedWork();
  } finally {
    database.close();
  }
}
