/** Finds out if a response was written completely. */
import type { ServerResponse } from 'node:http';

/**
 * Returns a function that returns true after Node has given the whole response to the operating system. Call it before
 * the response ends. `writableFinished` is no proof: Node sets it, and emits `finish`, also after the connection
 * was destroyed with unwritten bytes.
 */
export function watchWritten(response: ServerResponse): () => boolean {
  const { socket } = response.req;
  let written = false;
  // This listener runs first, because Node's own listener may close the connection.
  response.prependOnceListener('finish', () => {
    written = !socket.destroyed;
  });
  return () => written;
}
