/** Back-pressure of a response (S3). */
import type { ServerResponse } from 'node:http';

/**
 * @returns what to wait for while the response holds as much as it should; it resolves when the socket takes more, or
 * never will again. Undefined when there is nothing to wait for.
 */
export function untilDrained(response: ServerResponse): Promise<void> | undefined {
  if (!response.writableNeedDrain || response.destroyed) return undefined;
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle);
      response.off('close', settle);
      resolve();
    };
    response.on('drain', settle);
    response.on('close', settle);
  });
}
