import { describe, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { McpConnection } from '../../../../../shared/client/mcp/mcp-connection.ts';
import { HttpClient } from '../../../../../shared/client/core/http-client.ts';

const sent = z.object({
  id: z.optional(z.union([z.number(), z.string()])),
  method: z.optional(z.string()),
  params: z.optional(z.looseObject({})),
  error: z.optional(z.object({ code: z.number() })),
  result: z.optional(z.unknown()),
});
type Sent = z.infer<typeof sent>;

interface Server {
  connection: McpConnection;
  /** The received messages, each with its session id. */
  received: { body: Sent | undefined; session: string | null; method: string; keepalive: boolean }[];
}

type Answer = (message: Sent, count: number) => Response | Promise<Response>;

const json = (value: unknown, init?: ResponseInit): Response => Response.json(value, init);
const stream = (...messages: unknown[]): Response =>
  new Response(messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join(''), {
    headers: { 'Content-Type': 'text/event-stream' },
  });

/** Simulates a server that starts sessions and gives the scripted responses. */
function serverWith(answer: Answer): Server {
  const received: Server['received'] = [];
  let sessions = 0;
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    const body = typeof init?.body === 'string' ? sent.parse(JSON.parse(init.body)) : undefined;
    const session = new Headers(init?.headers).get('mcp-session-id');
    received.push({ body, session, method: init?.method ?? '', keepalive: init?.keepalive ?? false });
    if (body?.method === 'initialize') {
      sessions += 1;
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} };
      return json({ jsonrpc: '2.0', id: body.id, result }, { headers: { 'mcp-session-id': `s${sessions}` } });
    }
    if (body === undefined || body.id === undefined || body.method === undefined)
      return new Response(null, { status: 202 });
    return answer(body, received.length);
  };
  const service = new HttpClient({ url: 'http://server/mcp', fetch });
  return { connection: new McpConnection(service, { name: 'test', version: '0' }, 60_000), received };
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
const brokenBody = (): ReadableStream<Uint8Array> => {
  const parts = [new TextEncoder().encode('{"jsonrpc"')];
  return new ReadableStream({
    pull(controller) {
      const part = parts.shift();
      if (part === undefined) controller.error(new TypeError('terminated'));
      else controller.enqueue(part);
    },
  });
};

const progress = (progressToken: unknown, message: string): object => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken, progress: 1, message },
});

const anything = z.unknown();
const call = { method: 'tools/call', params: { name: 'x' } };

describe('a connection to an MCP server', () => {
  test('a connection starts one session for simultaneous requests, and ends it', async () => {
    const { connection, received } = serverWith(({ id }) => json({ jsonrpc: '2.0', id, result: { a: 1 } }));
    await Promise.all([connection.request(anything, call), connection.request(anything, call)]);
    await connection.close();
    expect(received.map(({ body, session, method }) => [body?.method ?? method, session])).toEqual([
      ['initialize', null],
      ['notifications/initialized', 's1'],
      ['tools/call', 's1'],
      ['tools/call', 's1'],
      ['DELETE', 's1'],
    ]);
  });

  test('a connection reports its request’s progress, answers a ping, and declines other requests', async () => {
    const { connection, received } = serverWith(({ id }) =>
      stream(
        { jsonrpc: '2.0', id: 'p', method: 'ping' },
        { jsonrpc: '2.0', id: 7, method: 'sampling/createMessage', params: {} },
        progress(id, 'mine'),
        progress('other', 'not mine'),
        { jsonrpc: '2.0', method: 'notifications/message', params: {} },
        { jsonrpc: '2.0', id, result: 'done' },
      ),
    );
    const told: string[] = [];
    const onProgress = (message: string): number => told.push(message);
    expect(await connection.request(z.string(), call, { onProgress })).toBe('done');
    expect(told).toEqual(['mine']);
    expect(received.slice(-2).map(({ body }) => body)).toEqual([
      { id: 'p', result: {} },
      { id: 7, error: { code: -32601 } },
    ]);
  });

  test('if the server has lost the session, a connection starts a new one and repeats the request once', async () => {
    const forgetful = serverWith(({ id }, count) =>
      count > 5 ? json({ jsonrpc: '2.0', id, result: 'ok' }) : new Response(null, { status: 404 }),
    );
    expect(await forgetful.connection.request(anything, call)).toBe('ok');
    expect(forgetful.received.map(({ session }) => session)).toEqual([null, 's1', 's1', null, 's2', 's2']);
    const amnesic = serverWith(() => new Response(null, { status: 404 }));
    await expect(amnesic.connection.request(anything, call)).rejects.toMatchObject({ status: 404 });
    expect(amnesic.received).toHaveLength(6);
  });

  test('if the server has lost the session of several requests, a connection starts one new session', async () => {
    const { connection, received } = serverWith(({ id }, count) =>
      count > 4 ? json({ jsonrpc: '2.0', id, result: 'ok' }) : new Response(null, { status: 404 }),
    );
    const requests = [connection.request(anything, call), connection.request(anything, call)];
    expect(await Promise.all(requests)).toEqual(['ok', 'ok']);
    expect(received.filter(({ body }) => body?.method === 'initialize')).toHaveLength(2);
    await connection.close();
    expect(received.at(-1)).toMatchObject({ method: 'DELETE', session: 's2' });
  });

  test('R48 a connection ends an aborted request at once, and sends its id and reason to the server', async () => {
    const { connection, received } = serverWith(() => new Promise<Response>(() => undefined));
    const controller = new AbortController();
    const request = connection.request(anything, call, { signal: controller.signal });
    while (received.length < 3) await Promise.resolve();
    controller.abort('changed my mind');
    await expect(request).rejects.toMatchObject({ code: 'aborted' });
    expect(received.at(-1)?.body).toEqual({
      method: 'notifications/cancelled',
      params: { requestId: received[2]?.body?.id, reason: 'changed my mind' },
    });
    const before = received.length;
    const late = connection.request(anything, call, { signal: controller.signal });
    await expect(late).rejects.toMatchObject({ code: 'aborted' });
    expect(received).toHaveLength(before);
  });

  test.each([
    [
      'an error',
      (id: unknown) => json({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no' } }),
      'refused',
    ],
    ['a status', () => json({ error: { code: -32000, message: 'no' } }, { status: 503 }), 'refused'],
    ['a page', () => new Response('<html>'), 'malformed-answer'],
    ['another shape', (id: unknown) => json({ jsonrpc: '2.0', id, result: 1 }), 'malformed-answer'],
    ['a stream without the answer', () => stream(), 'outcome-unknown'],
    ['half a JSON text', () => new Response(brokenBody(), { headers: JSON_TYPE }), 'outcome-unknown'],
    ['nothing', () => Promise.reject(new TypeError('reset')), 'outcome-unknown'],
  ] as const)('a response with %s gives an error with a name', async (_, answer, code) => {
    const { connection } = serverWith(({ id }) => answer(id));
    await expect(connection.request(z.string(), call)).rejects.toMatchObject({ name: 'ClientError', code });
  });

  test('R51 a connection sends the last request of a page at once, with keepalive, but not without a session', async () => {
    const { connection, received } = serverWith(({ id }) => json({ jsonrpc: '2.0', id, result: 1 }));
    connection.requestLeaving(call);
    expect(received).toEqual([]);
    await connection.request(anything, call);
    connection.requestLeaving(call);
    expect(received.at(-1)).toMatchObject({ keepalive: true, session: 's1', body: { method: 'tools/call' } });
  });
});
