/** Writes a web-standard answer to a socket, at the reader's speed. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Resolves when all is written. When the reader goes, what is left of the answer is called off, and that is no error. */
export async function writeAnswer(
  response: ServerResponse,
  answer: Response,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...headers });
  if (answer.body === null) {
    response.end();
    return;
  }
  // The head of a stream goes out at once: its first event may be long in coming.
  response.flushHeaders();
  await pipeline(Readable.fromWeb(answer.body), response).catch(() => undefined);
}
