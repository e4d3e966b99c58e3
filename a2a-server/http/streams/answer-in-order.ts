import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** The maximum number of requests of one connection that wait for the responses before them. */
const MAX_WAITING = 100;

const waiting = new WeakMap<Socket, number>();

/**
 * Answers one request of a connection at a time. A client may send further requests before it has read the response
 * (HTTP pipelining, RFC 9112 §9.3.2). S3: the responses to these requests would wait in memory, and no limit would
 * count them. So the requests wait. If too many wait, the connection is closed.
 */
export function answerInOrder(answer: RequestListener): RequestListener {
  return (request, response) => {
    // Node gives a response its socket only after the earlier response has ended.
    if (response.socket !== null) return answer(request, response);
    const { socket } = request;
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count > MAX_WAITING) socket.destroy();
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 0) - 1);
      answer(request, response);
    });
  };
}
