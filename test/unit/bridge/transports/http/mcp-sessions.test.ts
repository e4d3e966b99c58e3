import { afterEach, describe, expect, test } from '@jest/globals';
import { McpServer } from '@modelcontextprotocol/server';
import type { ServedMcpClient } from '../../../../../bridge/mcp/tool/tool-serving-context.ts';
import type { HttpExchangeEnd } from '../../../../../bridge/transports/http/http-sent-replies.ts';
import { McpSessions, MCP_SESSION_HEADER } from '../../../../../bridge/transports/http/mcp-sessions.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '0' } },
};
const PING = { jsonrpc: '2.0', id: 2, method: 'ping' };
const IDLE_MS = 60_000;

/** The MCP server of each session, with the state of its client. */
const served: { server: McpServer; client: ServedMcpClient }[] = [];

function serve(client: ServedMcpClient): McpServer {
  const server = new McpServer({ name: 'test', version: '0' }, { capabilities: { tools: {} } });
  served.push({ server, client });
  return server;
}

describe('the HTTP sessions of MCP’s older revisions', () => {
  let now = 0;
  /** The number of clients that disconnected with DELETE. */
  let left = 0;
  const open: McpSessions[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) each.close();
    served.length = 0;
  });

  function sessionsOf(most: number): McpSessions {
    now = 0;
    left = 0;
    const sessions = new McpSessions(
      { serve, onLeft: () => (left += 1) },
      { most, idleMs: IDLE_MS },
      () => now,
    );
    open.push(sessions);
    return sessions;
  }

  test('a session that was idle too long ends, and its id is unknown; a session in use never ends', async () => {
    const sessions = sessionsOf(10);
    const idle = await begun(sessions);
    const used = await begun(sessions, new Promise(() => undefined));
    now = IDLE_MS - 1;
    sessions.endIdle();
    expect(sessions.size).toBe(2);
    now = 1_000 * IDLE_MS;
    sessions.endIdle();
    expect(sessions.size).toBe(1);
    expect((await exchange(sessions, { body: PING, id: idle })).status).toBe(404);
    expect((await exchange(sessions, { body: PING, id: used })).status).toBe(200);
  });

  test('each request restarts the idle time', async () => {
    const sessions = sessionsOf(10);
    const id = await begun(sessions);
    for (let round = 1; round <= 5; round += 1) {
      now += IDLE_MS - 1;
      expect((await exchange(sessions, { body: PING, id })).status).toBe(200);
      sessions.endIdle();
    }
    expect(sessions.size).toBe(1);
  });

  test('at the limit, a new session replaces the session that was idle longest; if all are in use, the request gets 503', async () => {
    const sessions = sessionsOf(2);
    const first = await begun(sessions);
    now = 1;
    const second = await begun(sessions);
    now = 2;
    await exchange(sessions, { body: PING, id: first });
    now = 3;
    await begun(sessions, new Promise(() => undefined));
    expect((await exchange(sessions, { body: PING, id: second })).status).toBe(404);
    void exchange(sessions, { body: PING, id: first, over: new Promise(() => undefined) });
    expect(await exchange(sessions, { body: INITIALIZE })).toMatchObject({ status: 503, id: null });
    expect(sessions.size).toBe(2);
  });

  test('many requests at once open no more sessions than the limit', async () => {
    const sessions = sessionsOf(3);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        exchange(sessions, { body: INITIALIZE, over: new Promise(() => undefined) }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(7);
    expect(sessions.size).toBe(3);
  });

  test('a session that fails to start does not count towards the limit', async () => {
    const sessions = sessionsOf(2);
    for (let round = 0; round < 10; round += 1) {
      const request = new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: { accept: 'text/html' },
      });
      const answer = await sessions.answer({ request, body: INITIALIZE, over: Promise.resolve('answered') });
      expect(answer.status).toBe(406);
    }
    expect(sessions.size).toBe(0);
  });

  test('only a client that sends DELETE counts as disconnected: not an idle time, an eviction or an end of the bridge', async () => {
    const sessions = sessionsOf(1);
    await begun(sessions);
    await begun(sessions);
    now = 2 * IDLE_MS;
    sessions.endIdle();
    await begun(sessions);
    sessions.close();
    expect(left).toBe(0);
    const id = await begun(sessions);
    const request = new Request('http://127.0.0.1/mcp', {
      method: 'DELETE',
      headers: { [MCP_SESSION_HEADER]: id },
    });
    const answer = await sessions.answer({ request, body: undefined, over: Promise.resolve('answered') });
    expect(answer.status).toBe(200);
    expect(left).toBe(1);
    expect(sessions.size).toBe(0);
  });

  test.each([
    ['has the answers whose response was written', 'answered', 1],
    ['does not have an answer whose response was cut', 'cut', 0],
  ] as const)('a client that sends DELETE %s', async (_, end, count) => {
    const sessions = sessionsOf(1);
    const id = await begun(sessions);
    let received = 0;
    served[0]?.client.receipts.sent(PING.id, [() => (received += 1)]);
    await exchange(sessions, { id, body: PING, over: Promise.resolve(end) });
    expect(received).toBe(0);
    const request = new Request('http://127.0.0.1/mcp', {
      method: 'DELETE',
      headers: { [MCP_SESSION_HEADER]: id },
    });
    await sessions.answer({ request, body: undefined, over: Promise.resolve('answered') });
    expect(received).toBe(count);
  });

  test('S2 a client that resumes at an unknown event gets an error, and its GET stream continues', async () => {
    const sessions = sessionsOf(1);
    const id = await begun(sessions);
    const stream = await events(sessions, id);
    expect((await sessions.answer(resumed(id, 'elsewhere_1'))).status).toBe(400);
    await served[0]?.server.server.sendToolListChanged();
    expect(await stream.next()).toContain('tools/list_changed');
  });

  test('a client that resumes its GET stream gets it, also before the bridge has noticed the lost connection', async () => {
    const sessions = sessionsOf(1);
    const id = await begun(sessions);
    const lost = await events(sessions, id);
    await served[0]?.server.server.sendToolListChanged();
    const [, last = ''] = /^id: (.+)$/m.exec((await lost.next()) ?? '') ?? [];
    const stream = await events(sessions, id, last);
    expect(await lost.next()).toBeUndefined();
    await served[0]?.server.server.sendToolListChanged();
    expect(await stream.next()).toContain('tools/list_changed');
  });

  test('all sessions end with the bridge', async () => {
    const sessions = sessionsOf(2);
    const id = await begun(sessions);
    sessions.close();
    expect(sessions.size).toBe(0);
    expect((await exchange(sessions, { body: PING, id })).status).toBe(404);
  });
});

/** Sends one request. The exchange ends when the test has read the response, or when `over` resolves. */
async function exchange(
  sessions: McpSessions,
  { body, id, over }: { body: object; id?: string; over?: Promise<HttpExchangeEnd> },
): Promise<{ status: number; id: string | null }> {
  const request = new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(id === undefined ? {} : { [MCP_SESSION_HEADER]: id }),
    },
  });
  const done = over ?? Promise.resolve<HttpExchangeEnd>('answered');
  const answer = await sessions.answer({ request, body, over: done });
  if (over === undefined) await answer.text();
  return { status: answer.status, id: answer.headers.get(MCP_SESSION_HEADER) };
}

/**
 * Returns a client's GET request.
 * @param last the last event that the client has received
 */
function resumed(id: string, last?: string): Parameters<McpSessions['answer']>[0] {
  const headers = {
    accept: 'text/event-stream',
    [MCP_SESSION_HEADER]: id,
    ...(last !== undefined && { 'last-event-id': last }),
  };
  const request = new Request('http://127.0.0.1/mcp', { headers });
  return { request, body: undefined, over: new Promise(() => undefined) };
}

/** Opens the stream of a GET request. `next` is undefined at the end of the stream. */
async function events(sessions: McpSessions, id: string, last?: string) {
  const answer = await sessions.answer(resumed(id, last));
  expect(answer.status).toBe(200);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  return { next: async () => (await reader?.read())?.value };
}

async function begun(sessions: McpSessions, over?: Promise<HttpExchangeEnd>): Promise<string> {
  const { status, id } = await exchange(sessions, {
    body: INITIALIZE,
    ...(over === undefined ? {} : { over }),
  });
  expect(status).toBe(200);
  return id ?? '';
}
