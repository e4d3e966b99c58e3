/** Checks whether the program at the recorded URL is this user's A2A server. */
import { requestServerProof } from '../../shared/net/request-server-proof.ts';
import type { ServerRunIdentity } from '../../shared/net/server-proof.ts';

/** The result of the check. `up`: this user's server runs at the URL. */
export type ServerIdentityCheck =
  | { type: 'up'; run: ServerRunIdentity }
  /** The server is shutting down. When it has ended, another server can start. */
  | { type: 'closing' }
  /** No program listens at the URL, so the server has ended. */
  | { type: 'down' }
  /** Another program listens at the URL. */
  | { type: 'other-program'; message: string };

const TIMEOUT_MS = 5_000;

/** Asks the program at the URL to prove its identity. The program receives no token. */
export async function checkServerIdentity(url: string, token: string): Promise<ServerIdentityCheck> {
  const found = await requestServerProof(url, token, TIMEOUT_MS);
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
