/** Asks the running local server which agent runs its tasks, and whether it can write its journal. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { serverRunCredential } from '../../shared/net/server-proof.ts';
import type { ServerRecord } from '../../shared/state/server-record.ts';
import { tokenPath } from '../../shared/state/token-file.ts';

const TIMEOUT_MS = 5_000;

const health = z.object({ agent: z.string(), journal: z.string().optional() });
type ServerHealth = z.infer<typeof health>;

/**
 * Returns the health of the running server. Returns undefined if the server does not report it.
 * @param record the record of a server that has proved its identity
 */
export async function fetchServerHealth(
  record: ServerRecord,
  stateDir: string,
): Promise<ServerHealth | undefined> {
  try {
    const token = (await readFile(tokenPath(stateDir), 'utf8')).trim();
    // Sends a credential that only this run of the server accepts, and not the token itself.
    const response = await fetch(new URL('/health', record.url), {
      headers: { authorization: `Bearer ${serverRunCredential(token, record)}` },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return health.safeParse(await response.json()).data;
  } catch {
    return undefined;
  }
}
