/** Reads whether the local server runs. Does not start it. */
import { readFile } from 'node:fs/promises';
import { requestServerProof } from '../../shared/net/request-server-proof.ts';
import type { ServerRunIdentity } from '../../shared/net/server-proof.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { readServerRecord, type ServerRecord } from '../../shared/state/server-record.ts';
import { tokenPath } from '../../shared/state/token-file.ts';
import { isProcessOfThisUser } from '../state/process-id.ts';

const TIMEOUT_MS = 5_000;

/** `running` and `closing`: this user's server, which has proved its identity. `closing`: it is shutting down. */
export type LocalServerState =
  | { type: 'running'; record: ServerRecord; run: ServerRunIdentity }
  | { type: 'closing'; record: ServerRecord }
  | { type: 'stopped' }
  /** The process exists, but the program at the URL does not prove that it is this user's server. */
  | { type: 'strange'; record: ServerRecord; message: string };

/** Asks the program at the recorded URL to prove its identity. The program receives no token. */
export async function checkLocalServerState(stateDirectory: string): Promise<LocalServerState> {
  const record = await readServerRecord(stateDirectory);
  // A killed server leaves its record behind, and another program may use its port now. So the record counts only
  // while its process runs.
  if (record === undefined || !isProcessOfThisUser(record.pid)) return { type: 'stopped' };
  const token = await readFile(tokenPath(stateDirectory), 'utf8').catch(() => '');
  const proof = await requestServerProof(record.url, token.trim(), TIMEOUT_MS);
  switch (proof.type) {
    case 'proven':
      return proof.status === 'closing'
        ? { type: 'closing', record }
        : { type: 'running', record, run: proof };
    case 'down':
      return { type: 'stopped' };
    case 'unproven':
      return { type: 'strange', record, message: proof.message };
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
