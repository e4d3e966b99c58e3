/** The Streamable HTTP transport of the test MCP server, on the older SDK: sessions, and one stream per request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { message as jsonRpc, Session, type Fault, type Shared } from './session.ts';

export interface HttpPeer {
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Forgets every session, and keeps the streams open. */
  forget: () => void;
}

/** @param seen the server's record of its connections */
export function createHttpPeer({
  wrong,
  shared,
  seen,
}: {
  wrong: Fault;
  shared: Shared;
  seen: { open: number; sessions: number };
}): HttpPeer {
  const transports = new Map<string, StreamableHTTPServerTransport>();

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
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

  return { serve, forget: () => transports.clear() };
}
