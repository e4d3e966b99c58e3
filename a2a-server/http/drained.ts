/** Back-pressure of a response (S3). */
import type { ServerResponse } from 'node:http';

/**
 * So many heartbeats long a socket may take nothing before it is dropped; of 15 s each, five minutes. A peer that vanished
 * without a word, or sleeps, is known by nothing else: what it has been sent is not read, so no heartbeat gets through to
 * it. Its stream is a cursor, and can be taken up again.
 */
export const STALLED_HEARTBEATS = 20;

/**
 * @param patienceMs how long the socket may take nothing at all; then it is destroyed. Taking little by little is enough.
 * @returns what to wait for while the response holds as much as it should; it resolves when the socket takes more, or
 * never will again. Undefined when there is nothing to wait for.
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
    // Node counts what the kernel takes of a write as activity, and destroys the socket when there was none.
    response.setTimeout(patienceMs);
  });
}
