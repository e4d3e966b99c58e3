/** Checks whether the address in the state directory belongs to this user's A2A server. */
import { proveServer } from '../../shared/net/prove-server.ts';
import type { ServerRunIdentity } from '../../shared/net/server-proof.ts';

export type ServerHealth =
  | { type: 'up'; run: ServerRunIdentity }
  /** The server is shutting down. The next server can start afterwards. */
  | { type: 'closing' }
  /** No program listens, so the server of this address has ended. */
  | { type: 'down' }
  /** Another program listens there. */
  | { type: 'stranger'; message: string };

const TIMEOUT_MS = 5_000;

/** Asks the program at the address for its proof. It receives no token. */
export async function checkHealth(url: string, token: string): Promise<ServerHealth> {
  const found = await proveServer(url, token, TIMEOUT_MS);
  switch (found.type) {
    case 'proven':
      return found.status === 'closing'
        ? { type: 'closing' }
        : { type: 'up', run: { pid: found.pid, startedAt: found.startedAt } };
    case 'down':
      return { type: 'down' };
    case 'unproven':
      return { type: 'stranger', message: found.message };
  }
}
