/** Explains the error when a second server opens the same state directory. */
import { ProductError } from '../../shared/runtime/errors.ts';
import { readServerRecord } from '../../shared/state/server-record.ts';
import { stopCommand, findOwnServer } from './listen.ts';

/**
 * The error for the person. It names the other server only if that server answers, because its record may be stale.
 */
export async function stateInUse(
  error: ProductError,
  stateDir: string,
  token: string,
): Promise<ProductError> {
  const record = await readServerRecord(stateDir);
  const pid = record && (await findOwnServer(record.url, token));
  const who = record && pid !== undefined ? ` (pid ${pid}, at ${record.url})` : '';
  const end = pid === undefined ? 'end it first' : `end it with: ${stopCommand(pid)}`;
  return new ProductError(
    'CONFIGURATION',
    `Another a2a-server${who} already keeps its state in ${stateDir}. Use that server, or ${end}. To run another beside it, choose another --state-dir.`,
    { facts: { path: stateDir }, cause: error },
  );
}
