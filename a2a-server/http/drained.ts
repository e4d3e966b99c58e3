/** Back-pressure of a response (S3). */
import type { ServerResponse } from 'node:http';

/**
 * Resolves when the socket takes more, or never will again.
 * @param then called before anybody who waits goes on.
 */
export function drained(response: ServerResponse, then?: () => void): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle);
      response.off('close', settle);
      then?.();
      resolve();
    };
    response.on('drain', settle);
    response.on('close', settle);
  });
}

/** @returns what to wait for while the response holds as much as it should. */
export function untilDrained(response: ServerResponse): Promise<void> | undefined {
  return response.writableNeedDrain && !response.destroyed ? drained(response) : undefined;
}
