import type { Server } from 'node:http';

/** The time that clients have to read their last response when the server stops, in milliseconds. */
const LAST_RESPONSE_MS = 1_000;

/** Stops listening. Resolves when all connections are closed. A connection that stays open is cut after a second. */
export async function closeHttpServer(server: Server): Promise<void> {
  server.closeIdleConnections();
  await new Promise<void>((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), LAST_RESPONSE_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}
