/** Opens the bridge's database in a directory of the test. Several bridges can share the database. */
import { afterEach } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { BridgeDatabase } from '../../bridge/state/database.ts';
import type { SqlRow } from '../../shared/state/sql-row.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const open: BridgeDatabase[] = [];

/** @param owner the process that opens it; defaults to this one */
export async function openDatabase(stateDirectory: string, owner?: string): Promise<BridgeDatabase> {
  const database = await BridgeDatabase.open(stateDirectory, owner);
  open.push(database);
  return database;
}

export async function temporaryDatabase(): Promise<BridgeDatabase> {
  return openDatabase(await temporaryDirectory());
}

/** The id of a process that has ended. */
export async function endedProcessId(): Promise<string> {
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  await once(child, 'exit');
  return `${String(child.pid)}-x`;
}

afterEach(() => {
  for (const database of open.splice(0)) database.close();
});

/** Queries the current rows of the bridge's database. */
export async function rowsIn(stateDirectory: string, sql: string): Promise<readonly SqlRow[]> {
  const database = await BridgeDatabase.open(stateDirectory);
  try {
    return database.rows(sql);
  } finally {
    database.close();
  }
}

/** Resolves when the query returns a row. Polls, because SQLite does not report writes of other processes. */
export async function rowIn(stateDirectory: string, sql: string): Promise<void> {
  const database = await openDatabase(stateDirectory);
  while (database.rows(sql).length === 0) await setTimeout(10);
}
