/**
 * Answers the requests that arrive before the server has opened its journal. That may take long, e.g. while the tables
 * of a large database are upgraded.
 */
import type { RequestListener } from 'node:http';
import type { NotReadyReason } from '../http/routes/probe-routes.ts';

const STARTING: { status: string; reasons: readonly NotReadyReason[] } = {
  status: 'unavailable',
  reasons: ['starting'],
};

const json = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

export const answerWhileStarting: RequestListener = (request, response) => {
  // For an EventSource, the server closes the connection without a response, because an EventSource then reconnects.
  // After a status other than 200, it would stop for ever (WHATWG HTML §9.2).
  if (request.method === 'GET' && request.headers.accept === 'text/event-stream') {
    request.socket.destroy();
    return;
  }
  const [path] = (request.url ?? '').split('?', 1);
  if (path === '/livez') {
    // The answer is 200, because a process manager restarts a server that is not alive. A restart would only begin the
    // same work again.
    response.writeHead(200, json).end('{"status":"ok"}');
  } else if (path === '/readyz') {
    response.writeHead(503, json).end(JSON.stringify(STARTING));
  } else {
    response
      .writeHead(503, { 'Content-Type': 'text/plain', 'Retry-After': '1' })
      .end('The server is starting. Send the same request again in a second.\n');
  }
};
