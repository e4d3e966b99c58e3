import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The open responses of each connection that were queued behind an earlier response. */
const queued = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * A response may wait behind an earlier response (HTTP pipelining, RFC 9112 §9.3.2). When its connection ends, Node
 * emits no `close` for a waiting response. Its request would then count as open for ever. This function emits the
 * event.
 */
export function closeResponseWithConnection({ socket }: IncomingMessage, response: ServerResponse): void {
  // Node gives a response its socket when no earlier response is unfinished. So this response is not queued.
  if (response.socket !== null) return;
  const responses = queued.get(socket) ?? new Set();
  responses.add(response);
  response.once('close', () => responses.delete(response));
  if (queued.has(socket)) return;
  queued.set(socket, responses);
  socket.once('close', () => {
    for (const each of responses) {
      each.destroyed = true;
      each.emit('close');
    }
  });
}
