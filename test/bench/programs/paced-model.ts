/**
 * A provider with OpenAI's chat completions API. Each answer is a sequence of chunks at an even pace, and each chunk
 * is the time at which it was sent. `pace <chunks> <ms between>` in the messages sets the pace. The provider holds
 * all answers until `POST /go?held=<n>` finds that many, then starts them together, spread over one interval.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

type Begin = (delayMs: number) => void;

const held: Begin[] = [];
let waiting: { count: number; go: () => void } | undefined;

const server = createServer((request, response) => void receive(request, response));
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null)
    process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const count = /held=(\d+)/.exec(request.url ?? '')?.[1];
  if (count === undefined) hold(body, response);
  else waiting = { count: Number(count), go: () => response.end() };
  if (waiting === undefined || held.length < waiting.count) return;
  waiting.go();
  waiting = undefined;
  const all = held.splice(0);
  for (const [index, begin] of all.entries()) begin(index / all.length);
}

function hold(body: string, response: ServerResponse): void {
  const [, chunks = '0', interval = '0'] = /pace (\d+) (\d+)/.exec(body) ?? [];
  const [left, everyMs] = [Number(chunks), Number(interval)];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ role: 'assistant', content: '' }));
  held.push((phase) => void setTimeout(() => pace(response, left, everyMs), phase * everyMs));
}

function pace(response: ServerResponse, chunks: number, everyMs: number): void {
  let left = chunks;
  const timer = setInterval(() => {
    left -= 1;
    response.write(chunk({ content: `@${(performance.timeOrigin + performance.now()).toFixed(2)};` }));
    if (left > 0) return;
    clearInterval(timer);
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  }, everyMs);
}

function chunk(delta: object, finish: string | null = null): string {
  const stamp = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'paced' };
  return `data: ${JSON.stringify({ ...stamp, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}
