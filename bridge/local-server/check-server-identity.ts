/** Checks whether the recorded address belongs to this user's A2A server. */
import { proveServer } from '../../shared/net/prove-server.ts';
import type { ServerRunIdentity } from '../../shared/net/server-proof.ts';

export type ServerHealth =
  | { type: 'up'; run: ServerRunIdentity }
  /** The server is shutting down. Another server can start afterwards. */
  | { type: 'closing' }
  /** No program listens at the address, so the server has ended. */
  | { type: 'down' }
  /** Another program listens at the address. */
  | { type: 'other-program'; message: string };

const TIMEOUT_MS = 5_000;

/** Asks the program at the address to prove its identity. The program receives no token. */
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
      return { type: 'other-program', message: found.message };
  }
}
