/**
 * Checks that no other program listens on the server's port at ::1. `localhost` means 127.0.0.1 and ::1, and a browser
 * may try ::1 first. If the server listens on 127.0.0.1 only, a program of another user can listen on ::1. The browser
 * would then open the server's link at that program.
 */
import { connect } from 'node:net';
import { ProductError } from '../../shared/runtime/errors.ts';

const TIMEOUT_MS = 1_000;

/**
 * Refuses to hand out a link if another program could receive it. Call this before a link to `localhost` leaves the
 * server.
 * @param base the server's URL for clients
 * @throws ProductError FORBIDDEN if another program listens on ::1 with the server's port
 */
export async function requireSoleLocalhostListener(base: string): Promise<void> {
  const { hostname, port } = new URL(base);
  if (!hostname.startsWith('127.') || !(await isListening(Number(port || '80')))) return;
  throw new ProductError(
    'FORBIDDEN',
    `Another program listens on [::1]:${port}, so a browser may open that program at localhost. End it, or start the server with another --port.`,
  );
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '::1', port });
    const end = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    // A program that neither accepts nor refuses this connection may accept a later one. So the port counts as used.
    socket.setTimeout(TIMEOUT_MS, () => end(true));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
