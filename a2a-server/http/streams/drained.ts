/** Back-pressure of a response (S3). */
import type { ServerResponse } from 'node:http';

/**
 * The number of heartbeat intervals without accepted data after which the server closes a socket. 20 intervals of 15 s
 * are five minutes. A vanished or sleeping peer does not read, and only the full socket shows it. The client can resume
 * its stream from a cursor.
 */
export const STALLED_HEARTBEATS = 20;

/**
 * @param patienceMs the time in milliseconds after which a socket that accepts no data is destroyed. Slow progress
 * keeps the socket open.
 * @returns a promise that resolves when the socket accepts data again or is closed. Undefined if the buffer is not
 * full.
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
    // Node counts each partial write to the kernel as activity. Without activity it fires the timeout.
    response.setTimeout(patienceMs);
  });
}
