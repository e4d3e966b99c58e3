import type { IncomingMessage } from 'node:http';
import { ProductError } from '../../../shared/runtime/errors.ts';

/** Counts the bytes of bodies that are not complete. */
export interface BodyMemory {
  /** Counts bytes that arrived. @throws ProductError LIMIT_REACHED */
  hold: (bytes: number) => void;
  /** Stops counting the bytes of this body. */
  release: () => void;
}

const NO_LIMIT: BodyMemory = { hold: () => undefined, release: () => undefined };

/** The beginning of a body is not counted. So there is always memory for a decision or a cancel. */
const UNCOUNTED_BYTES = 64 * 1024;

/**
 * Reads the body of a request. Resolves with undefined if the client disconnects before the end of the body.
 *
 * E4: a client may send FIN right after its request. Express's body parser then assumes that the request has no body,
 * so the server does not use this parser.
 * @throws ProductError TOO_LARGE, LIMIT_REACHED, but only after the whole body has arrived. Many clients read no
 * response before they have sent their request.
 */
export function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
  memory: BodyMemory = NO_LIMIT,
): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) resolve(undefined);
    const chunks: Buffer[] = [];
    let bytes = 0;
    let refusal: unknown =
      Number(request.headers['content-length']) > maxBytes ? bodyTooLarge(maxBytes) : undefined;
    const add = (chunk: Buffer): void => {
      if (refusal !== undefined) return;
      bytes += chunk.length;
      try {
        if (bytes > maxBytes) throw bodyTooLarge(maxBytes);
        if (bytes > UNCOUNTED_BYTES) memory.hold(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        refusal = error;
        chunks.length = 0;
        memory.release();
      }
    };
    const stop = (): void => {
      memory.release();
      resolve(undefined);
    };
    request.on('data', add);
    request.once('close', stop);
    request.once('end', () => {
      // The listeners refer to the body, so they are removed. Otherwise a stream would keep the body in memory for
      // hours.
      request.off('data', add);
      request.off('close', stop);
      memory.release();
      if (refusal === undefined) resolve(Buffer.concat(chunks));
      else reject(refusal);
      chunks.length = 0;
    });
  });
}

function bodyTooLarge(maxBytes: number): ProductError {
  return new ProductError(
    'TOO_LARGE',
    `The body is larger than ${maxBytes} bytes. Put large content into a file of the workspace and name it.`,
    { facts: { limit: String(maxBytes) } },
  );
}
