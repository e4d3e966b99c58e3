import type { IncomingMessage } from 'node:http';
import { ProductError } from '../../../shared/runtime/errors.ts';

/**
 * Reads the body of a request. Resolves with undefined if the client disconnects before the end of the body.
 *
 * E4: a client may send FIN right after its request. Express's body parser then assumes that the request has no body,
 * so the server does not use this parser.
 * @throws ProductError TOO_LARGE, but only after the whole body has arrived. Many clients read no response before they
 * have sent their request.
 */
export function readRequestBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) resolve(undefined);
    const chunks: Buffer[] = [];
    let bytes = 0;
    let tooLarge = Number(request.headers['content-length']) > maxBytes;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      tooLarge ||= bytes > maxBytes;
      if (tooLarge) chunks.length = 0;
      else chunks.push(chunk);
    });
    request.once('end', () => {
      if (tooLarge) reject(bodyTooLarge(maxBytes));
      else resolve(Buffer.concat(chunks));
    });
    request.once('close', () => resolve(undefined));
  });
}

function bodyTooLarge(maxBytes: number): ProductError {
  return new ProductError(
    'TOO_LARGE',
    `The body is larger than ${maxBytes} bytes. Put large content into a file of the workspace and name it.`,
    { facts: { limit: String(maxBytes) } },
  );
}
