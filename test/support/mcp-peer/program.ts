/**
 * The test MCP server as a program. Its arguments are `stdio`, `sse <port>` or `http <port>`, and its fault. `GET
 * /seen` returns the server's record of its connections.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { fault, message as jsonRpc, newShared, Session, type Fault } from './session.ts';

const [kind = 'stdio', port = '0', named = 'none'] = process.argv.slice(2);
const wrong = fault.parse(named);
const shared = newShared();
const seen = { streams: 0, open: 0, sessions: 0, posts: 0, brokenPipes: 0 };

if (kind === 'stdio') overStdio(wrong);
else {
  const server = createServer((request, response) => {
    if (request.url === '/seen') tellSeen(response);
    else if (request.url === '/forget') forget(response);
    else if (request.url === '/refuse') response.end(() => server.close());
    else void (kind === 'sse' ? overSse : overHttp)(request, response);
  });
  server.listen(Number(port), '127.0.0.1', () => {
    process.stdout.write(`${JSON.stringify(server.address())}\n`);
  });
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
  if (does === 'long-line') process.stdout.write('x'.repeat(40 * 1024 * 1024));
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

const transports = new Map<string, StreamableHTTPServerTransport>();

/** Streamable HTTP with the older SDK's transport: sessions, and one stream per request. */
async function overHttp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = request.headers['mcp-session-id'];
  const body: unknown = request.method === 'POST' ? JSON.parse(await text(request)) : undefined;
  let transport = typeof id === 'string' ? transports.get(id) : undefined;
  if (transport === undefined) {
    if (!isInitializeRequest(body) && wrong === 'forgotten-400')
      return void response
        .writeHead(400)
        .end('{"error":{"message":"Bad Request: No valid session ID provided"}}');
    if (!isInitializeRequest(body)) return void response.writeHead(404).end('no such session');
    transport = await newTransport();
  }
  const asked = jsonRpc.safeParse(body).data;
  if (asked?.method === 'tools/call' && (wrong === 'calls-404' || wrong === 'calls-400')) {
    shared.calls['refused'] = (shared.calls['refused'] ?? 0) + 1;
    if (wrong === 'calls-404') return void response.writeHead(404).end('no such session');
    const error = { code: -32000, message: 'the chat session is over' };
    return void response.writeHead(400).end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, error }));
  }
  seen.open += 1;
  response.on('close', () => (seen.open -= 1));
  await transport.handleRequest(request, response, body);
}

async function newTransport(): Promise<StreamableHTTPServerTransport> {
  seen.sessions += 1;
  const name = `session-${process.pid}-${seen.sessions}`;
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => name });
  const send = (sent: object, about?: string | number): void =>
    void transport.send(
      JSONRPCMessageSchema.parse(sent),
      about === undefined ? {} : { relatedRequestId: about },
    );
  const drop = (): void => void transport.close();
  const session = new Session({ send, drop, fault: wrong }, shared);
  Object.assign(transport, {
    onmessage: (received: unknown) => session.take(received),
    onclose: () => transports.delete(name),
  });
  await transport.start();
  transports.set(name, transport);
  return transport;
}

/** Forgets every session, and keeps the streams open. */
function forget(response: ServerResponse): void {
  streams.clear();
  transports.clear();
  response.end();
}

function tellSeen(response: ServerResponse): void {
  response.end(JSON.stringify({ ...seen, calls: shared.calls }));
}
