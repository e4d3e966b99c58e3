/**
 * A Node server that only streams. It creates the text of each frame, writes it, and waits while the socket is full.
 * The request gives the frame and the count: `params.message.parts[0].data` is `{ frame, count }`.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const asked = z.object({
  id: z.number(),
  params: z.object({
    message: z.object({
      parts: z.tuple([z.object({ data: z.object({ frame: z.unknown(), count: z.number().int() }) })]),
    }),
  }),
});

const server = createServer((request, response) => void answer(request, response));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null)
    process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id, params } = asked.parse(JSON.parse(await text(request)));
  const { frame, count } = params.message.parts[0].data;
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  for (let sent = 0; sent < count; sent += 1) {
    const data = JSON.stringify({ jsonrpc: '2.0', id, result: frame });
    if (!response.write(`data: ${data}\n\n`)) await once(response, 'drain');
  }
  response.end();
}
