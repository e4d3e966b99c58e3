/** What bridges that have ended left in the outbox. Read from the files' names alone, so that looking costs next to nothing. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, ownProcessId, type ProcessId } from './process-id.ts';

/** `<message id>.<owner>.json` */
export const OPEN_NAME = /^([A-Za-z0-9-]+)\.([0-9]+-[0-9a-z]+)\.json$/;

/** Where the outbox lies in the state directory. */
export const outboxDirectory = (stateDirectory: string): string => join(stateDirectory, 'outbox');
export const openDirectory = (outbox: string): string => join(outbox, 'open');
export const closedDirectory = (outbox: string): string => join(outbox, 'closed');

/** The entries in `directory` whose owner has ended. */
export async function orphansIn(
  directory: string,
  self: ProcessId,
): Promise<readonly { name: string; messageId: string }[]> {
  const orphans: { name: string; messageId: string }[] = [];
  for (const name of await readdir(directory)) {
    const [, messageId, owner] = OPEN_NAME.exec(name) ?? [];
    if (messageId === undefined || owner === undefined || owner === self) continue;
    if (!(await isRunning(owner))) orphans.push({ name, messageId });
  }
  return orphans;
}

/** Whether there is anything to take over. False where there is no outbox yet. */
export async function hasOrphans(stateDirectory: string): Promise<boolean> {
  const directory = openDirectory(outboxDirectory(stateDirectory));
  try {
    return (await orphansIn(directory, await ownProcessId())).length > 0;
  } catch {
    return false;
  }
}
