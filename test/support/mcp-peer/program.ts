/**
 * The test MCP server as a program. Its arguments are `stdio`, `sse <port>` or `http <port>`, and its fault. `GET
 * /seen` returns the server's record of its connections.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fault, MORE_THAN_A_MESSAGE, newShared, Session, type Fault } from './session.ts';
import type { HttpPeer } from './streamable-http.ts';

const [kind = 'stdio', port = '0', named = 'none'] = process.argv.slice(2);
const wrong = fault.parse(named);
const shared = newShared();
const seen = { streams: 0, open: 0, sessions: 0, posts: 0, brokenPipes: 0 };
/** The SDK is imported only for Streamable HTTP, because its import takes most of the program's start. */
const http: HttpPeer | undefined =
  kind === 'http'
    ? (await import('./streamable-http.ts')).createHttpPeer({ wrong, shared, seen })
    : undefined;

if (kind === 'stdio') overStdio(wrong);
else {
  const server = createServer((request, response) => {
    if (request.url === '/seen') tellSeen(response);
    else if (request.url === '/forget') forget(response);
    else if (request.url === '/refuse') refuse(server, response);
    else void (http?.serve ?? overSse)(request, response);
  });
  server.listen(Number(port), '127.0.0.1', () => {
    process.stdout.write(`${JSON.stringify(server.address())}\n`);
  });
  // This process ends with the test, even if the test is killed.
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || process.exit(), 1_000).unref();
}

/**
 * Closes the listening socket, then answers. The kernel would accept a connection before the close, and then reset it.
 * The connection of the answer closes too, so that no later request reaches this process.
 */
function refuse(server: Server, response: ServerResponse): void {
  server.close();
  response.setHeader('connection', 'close').end();
}

function overStdio(does: Fault): void {
  process.stderr.write('peer: hello\n');
  if (does === 'rubbish' || does === 'rubbish-only')
    process.stdout.write('Welcome to the peer!\n{"half": \n');
  if (does === 'rubbish-only') {
    const more = (): void =>
      void process.stdout.write('still not MCP\n'.repeat(500), () => setImmediate(more));
    more();
    return;
  }
  if (does === 'exits') {
    process.stderr.write('no licence found\n');
    process.exitCode = 4;
    return;
  }
  if (does === 'long-line') process.stdout.write('x'.repeat(MORE_THAN_A_MESSAGE));
  const session = new Session(
    {
      send: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
      drop: () => process.exit(0),
      fault: does,
    },
    shared,
  );
  createInterface({ input: process.stdin }).on('line', (line) => session.take(JSON.parse(line)));
}

const streams = new Map<string, Session>();

/** HTTP+SSE: every message gets 202 first. Its answer comes on the stream. */
async function overSse(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (request.method === 'GET' && url.pathname !== '/sse') return void response.writeHead(404).end();
  if (request.method === 'GET') {
    seen.streams += 1;
    seen.open += 1;
    const name = String(seen.streams);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: endpoint\ndata: /messages?session=${name}\n\n`);
    response.on('close', () => {
      seen.open -= 1;
      streams.delete(name);
    });
    const send = (message: object): void => {
      if (response.destroyed) seen.brokenPipes += 1;
      else response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    };
    streams.set(name, new Session({ send, drop: () => response.end(), fault: wrong }, shared));
    return;
  }
  const refusal = /^post-(\d+)$/.exec(wrong)?.[1];
  if (url.pathname === '/sse') return void response.writeHead(Number(refusal ?? 404)).end('no POST here');
  const session = streams.get(url.searchParams.get('session') ?? '');
  if (session === undefined) return void response.writeHead(404).end('no such session');
  seen.posts += 1;
  const body: unknown = JSON.parse(await text(request));
  response.writeHead(202).end('Accepted');
  // The session handles the message after the answer 202, in a later turn of the event loop.
  setImmediate(() => session.take(body));
}

/** Forgets every session, and keeps the streams open. */
function forget(response: ServerResponse): void {
  streams.clear();
  http?.forget();
  response.end();
}

function tellSeen(response: ServerResponse): void {
  response.end(JSON.stringify({ ...seen, calls: shared.calls }));
}
