/** Reads whether the local server runs. Does not start it. */
import { readFile } from 'node:fs/promises';
import { ProductError } from '../../shared/runtime/errors.ts';
import { readServerRecord, type ServerRecord } from '../../shared/state/server-record.ts';
import { tokenPath } from '../../shared/state/token-file.ts';
import { checkServerIdentity } from './check-server-identity.ts';
import { isProcessOfThisUser } from '../state/process-id.ts';

/** This user's server, which has proved its identity. `closing`: it is shutting down. */
export interface EndableServer {
  type: 'running' | 'closing';
  record: ServerRecord;
}

export type LocalServerState =
  | EndableServer
  | { type: 'stopped' }
  /** The process exists, but the program at the URL does not prove that it is this user's server. */
  | { type: 'strange'; record: ServerRecord; message: string };

export async function checkLocalServerState(stateDirectory: string): Promise<LocalServerState> {
  const record = await readServerRecord(stateDirectory);
  // A killed server leaves its record behind, and another program may use its port now. So the record counts only
  // while its process runs.
  if (record === undefined || !isProcessOfThisUser(record.pid)) return { type: 'stopped' };
  const token = await readFile(tokenPath(stateDirectory), 'utf8').catch(() => '');
  const health = await checkServerIdentity(record.url, token.trim());
  switch (health.type) {
    case 'up':
      return { type: 'running', record };
    case 'down':
      return { type: 'stopped' };
    case 'closing':
      return { type: 'closing', record };
    case 'other-program':
      return { type: 'strange', record, message: health.message };
  }
}

/** Returns the error of a command that cannot use this server. */
export function unverifiedServerError({
  record,
  message,
}: Extract<LocalServerState, { type: 'strange' }>): ProductError {
  return new ProductError(
    'AGENT_UNREACHABLE',
    `Process ${String(record.pid)} should be the local server at ${record.url}, but does not answer like it: ${message}. Check the process, and end it yourself.`,
  );
}
