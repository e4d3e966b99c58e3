import type { ServerResponse } from 'node:http';

/**
 * The number of heartbeat intervals without accepted data after which the server closes a socket. 20 intervals of 15 s
 * are five minutes. A sleeping or vanished peer does not read, and only its full socket shows that. The client can
 * resume its stream from a cursor.
 */
export const STALLED_HEARTBEATS = 20;

/**
 * S3: waits until the socket accepts data. Returns undefined if the buffer is not full. The promise also resolves when
 * the socket closes.
 * @param patienceMs after this time without accepted data, the socket is destroyed. Slow progress keeps the socket
 *   open.
 */
export function waitUntilDrained(response: ServerResponse, patienceMs: number): Promise<void> | undefined {
  if (!response.writableNeedDrain || response.destroyed) return undefined;
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle);
      response.off('close', settle);
      response.setTimeout(0);
      resolve();
    };
    response.on('drain', settle);
    response.on('close', settle);
    // Node counts each partial write to the kernel as activity. The timeout fires only without activity.
    response.setTimeout(patienceMs);
  });
}
