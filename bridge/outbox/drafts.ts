/** Half-written files of processes that ended while they wrote: nobody ever reads them. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inboxDirectory } from '../inbox/inbox-directory.ts';
import { claimsDirectory } from '../sessions/decision-claims.ts';
import { marksDirectory } from '../webhook/marks.ts';
import { closedDirectory, openDirectory, outboxDirectory } from './orphans.ts';
import { isProcess } from './process-id.ts';

/** `<an entry's name>.<pid of the writer>.<random>` */
const DRAFT_NAME = /\.json\.([0-9]+)\.[0-9a-f]+$/;

/** Removes them. Nothing happens where a directory is not there, or a file cannot be removed. */
export async function removeDrafts(stateDirectory: string): Promise<void> {
  const outbox = outboxDirectory(stateDirectory);
  const inbox = inboxDirectory(stateDirectory);
  const claims = claimsDirectory(stateDirectory);
  const marks = marksDirectory(stateDirectory);
  for (const directory of [openDirectory(outbox), closedDirectory(outbox), inbox, claims, marks]) {
    for (const name of await readdir(directory).catch(() => [])) {
      const pid = DRAFT_NAME.exec(name)?.[1];
      if (pid === undefined || isProcess(Number(pid))) continue;
      await rm(join(directory, name), { force: true }).catch(() => undefined);
    }
  }
}
