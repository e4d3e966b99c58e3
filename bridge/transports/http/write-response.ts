/** Writes a web-standard `Response` to a socket, at the speed of the client. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Resolves when everything is written. If the client disconnects, the rest is dropped without an error. */
export async function writeResponse(
  response: ServerResponse,
  answer: Response,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...headers });
  if (answer.body === null) {
    response.end();
    return;
  }
  // The headers are sent immediately, because the first event of a stream may come much later.
  response.flushHeaders();
  await pipeline(Readable.fromWeb(answer.body), response).catch(() => undefined);
}
