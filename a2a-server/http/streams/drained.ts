/** Back-pressure of a response (S3). */
import type { ServerResponse } from 'node:http';

/**
 * The number of heartbeat intervals after which a socket that accepts no data is closed: 20 of 15 s are five minutes. A peer
 * that vanished or sleeps cannot be detected otherwise: it does not read, so no heartbeat gets through. The client can resume
 * its stream from a cursor.
 */
export const STALLED_HEARTBEATS = 20;

/**
 * @param patienceMs the time after which a socket that accepts no data at all is destroyed. Slow progress is enough.
 * @returns a promise that resolves when the socket accepts data again or is closed. Undefined if the buffer is not full.
 */
export function untilDrained(response: ServerResponse, patienceMs: number): Promise<void> | undefined {
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
    // Node counts each partial write to the kernel as activity. It fires the timeout only if there was none.
    response.setTimeout(patienceMs);
  });
}
