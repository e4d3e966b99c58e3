/**
 * Tests rules of the MCP specifications for servers, byte by byte, with the built bridge over HTTP and without an
 * SDK client.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { FakeAgent } from '../../support/fake-agent.ts';
import { type BridgeProgram, builtBridge } from './support/bridge-program.ts';
import { type HttpBridge, startHttpBridge } from './support/http-bridge.ts';

const MODERN = '2026-07-28';
const OLDER = ['2025-11-25', '2025-06-18'] as const;
const PREFIX = 'io.modelcontextprotocol/';

const message = z.looseObject({
  id: z.union([z.number(), z.string(), z.null()]).optional(),
  result: z.looseObject({}).optional(),
  error: z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
});

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The last message of the body: JSON, or the last event of a stream. */
  message: z.infer<typeof message> | undefined;
}

let program: BridgeProgram;
let agent: FakeAgent;
let bridge: HttpBridge;

beforeAll(async () => {
  program = await builtBridge();
  agent = await FakeAgent.start({ onMessage: (task) => task.work().say('done').complete() });
  const stateDir = await mkdtemp(join(program.directory, 'state-'));
  bridge = await startHttpBridge(program, { stateDir, agentUrl: agent.url });
});
afterAll(async () => {
  await bridge.kill();
  await agent.stop();
  await program.remove();
});

async function send(method: string, headers: Record<string, string>, body?: string): Promise<Answer> {
  const response = await fetch(bridge.url, {
    method,
    headers: { ...bridge.credentials, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const events = text.split('\n').filter((line) => line.startsWith('data: {'));
  const json = text.startsWith('{') ? text : events.at(-1)?.slice('data: '.length);
  return {
    status: response.status,
    headers: response.headers,
    text,
    message: json === undefined ? undefined : message.parse(JSON.parse(json)),
  };
}

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const META: Record<string, unknown> = {
  [`${PREFIX}protocolVersion`]: MODERN,
  [`${PREFIX}clientInfo`]: { name: 'raw', version: '0' },
  [`${PREFIX}clientCapabilities`]: {},
};

/** Sends a request of 2026-07-28. @param change replaces the metadata or headers; an undefined header is left out */
function modern(
  method: string,
  params: Record<string, unknown> = {},
  change: { meta?: Record<string, unknown>; headers?: Record<string, string | undefined> } = {},
): Promise<Answer> {
  const name = params['name'] ?? params['uri'];
  const headers = {
    ...JSON_HEADERS,
    'mcp-protocol-version': MODERN,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
    ...change.headers,
  };
  const sent = Object.fromEntries(
    Object.entries(headers).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  const meta = change.meta ?? META;
  return send(
    'POST',
    sent,
    JSON.stringify({ jsonrpc: '2.0', id: 'r-1', method, params: { ...params, _meta: meta } }),
  );
}

const without = (key: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(META).filter(([name]) => name !== `${PREFIX}${key}`));

const listed = z.looseObject({
  tools: z.array(z.looseObject({ name: z.string(), inputSchema: z.looseObject({}) })),
});

describe('MCP 2026-07-28 over HTTP', () => {
  test('server/discover returns the versions, the capabilities, the server name, and how long a client may cache them', async () => {
    const { status, message: answer } = await modern('server/discover');
    expect(status).toBe(200);
    expect(answer).toMatchObject({
      id: 'r-1',
      result: {
        resultType: 'complete',
        supportedVersions: expect.arrayContaining([MODERN]),
        capabilities: { tools: {}, prompts: {}, resources: {} },
        ttlMs: expect.any(Number),
        cacheScope: expect.stringMatching(/^(public|private)$/),
        _meta: { [`${PREFIX}serverInfo`]: { name: expect.any(String), version: expect.any(String) } },
      },
    });
  });

  test.each(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])(
    'the result of %s has cache settings and the result type',
    async (method) => {
      const { result } = (await modern(method)).message ?? {};
      expect(result).toMatchObject({ resultType: 'complete', cacheScope: expect.any(String) });
      expect(Number(result?.['ttlMs'])).toBeGreaterThanOrEqual(0);
    },
  );

  test('a client that does not declare MCP tasks gets 400 and -32021 if it subscribes to a task', async () => {
    const params = { notifications: { taskIds: ['a::b'] } };
    const refused = await modern('subscriptions/listen', params);
    expect(refused.status).toBe(400);
    expect(refused.message).toMatchObject({
      id: 'r-1',
      error: {
        code: -32021,
        data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
      },
    });
  });

  test('tools/list always returns the tools in the same order, on every connection', async () => {
    // Two requests at the same time need two connections. The third request uses one of them again.
    const [first, second] = await Promise.all([modern('tools/list'), modern('tools/list')]);
    const third = await modern('tools/list');
    expect(listed.parse(first.message?.result).tools).not.toEqual([]);
    for (const { message: answer } of [second, third]) expect(answer?.result).toEqual(first.message?.result);
  });

  test.each(['protocolVersion', 'clientCapabilities'])(
    'a request without the field %s in its metadata gets 400 and -32602',
    async (field) => {
      const answer = await modern('tools/list', {}, { meta: without(field) });
      expect(answer).toMatchObject({ status: 400, message: { error: { code: -32_602 } } });
    },
  );

  test('a request with an unsupported version gets 400 and -32022, with the supported versions', async () => {
    const meta = { ...META, [`${PREFIX}protocolVersion`]: '2099-01-01' };
    const answer = await modern(
      'tools/list',
      {},
      { meta, headers: { 'mcp-protocol-version': '2099-01-01' } },
    );
    expect(answer).toMatchObject({
      status: 400,
      message: {
        id: 'r-1',
        error: {
          code: -32_022,
          data: { supported: expect.arrayContaining([MODERN]), requested: '2099-01-01' },
        },
      },
    });
  });

  test.each([
    ['another protocol version', { 'mcp-protocol-version': '2025-11-25' }],
    ['no protocol version', { 'mcp-protocol-version': undefined }],
    ['another method', { 'mcp-method': 'tools/list' }],
    ['no method', { 'mcp-method': undefined }],
    ['another name', { 'mcp-name': 'cancel_running_task' }],
    ['no name', { 'mcp-name': undefined }],
    ['a name that is not encoded', { 'mcp-name': '=?base64?!?=' }],
  ])(
    'a call whose header has %s gets 400 and -32020, because the header differs from the body',
    async (_, headers) => {
      const call = { name: 'list_all_active_sessions', arguments: {} };
      const answer = await modern('tools/call', call, { headers });
      expect(answer).toMatchObject({ status: 400, message: { error: { code: -32_020 } } });
    },
  );

  test('the bridge decodes an encoded name in a header before it compares it, and header names are case-insensitive', async () => {
    const name = 'list_all_active_sessions';
    const encoded = `=?base64?${Buffer.from(name).toString('base64')}?=`;
    const headers = { 'mcp-name': undefined, 'MCP-NAME': encoded };
    const answer = await modern('tools/call', { name, arguments: {} }, { headers });
    expect(answer).toMatchObject({ status: 200, message: { result: { resultType: 'complete' } } });
  });

  test('a request with an unknown method gets 404 and -32601', async () => {
    expect(await modern('tools/unknown')).toMatchObject({
      status: 404,
      message: { error: { code: -32_601 } },
    });
  });

  test('a call of an unknown tool gets -32602', async () => {
    const answer = await modern('tools/call', { name: 'no_such_tool', arguments: {} });
    expect(answer.message?.error?.code).toBe(-32_602);
  });

  test('the bridge ignores an MCP session id in a request, and sends none', async () => {
    const answer = await modern('tools/list', {}, { headers: { 'mcp-session-id': 'elsewhere' } });
    expect([answer.status, answer.headers.get('mcp-session-id')]).toEqual([200, null]);
  });

  test('a notification gets 202 and no body', async () => {
    const headers = {
      ...JSON_HEADERS,
      'mcp-protocol-version': MODERN,
      'mcp-method': 'notifications/cancelled',
    };
    const params = { requestId: 'nobody', _meta: META };
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    expect(await send('POST', headers, body)).toMatchObject({ status: 202, text: '' });
  });

  test('a call of a client without the tasks capability returns the result, not an MCP task', async () => {
    const call = { name: 'delegate_task_to_assistant', arguments: { task: 'go' } };
    expect((await modern('tools/call', call)).message?.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { state: 'completed' },
    });
  });

  test.each(['tools/list', 'resources/list'])(
    '%s refuses a cursor that the bridge did not create',
    async (method) => {
      expect((await modern(method, { cursor: 'made up' })).message?.error?.code).toBe(-32_602);
    },
  );
});

const initialize = (version: string, headers: Record<string, string> = {}): Promise<Answer> =>
  send(
    'POST',
    { ...JSON_HEADERS, ...headers },
    JSON.stringify({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'raw', version: '0' } },
    }),
  );

describe.each(OLDER)('MCP %s over HTTP', (revision) => {
  let session: Record<string, string> = {};

  beforeAll(async () => {
    const { headers } = await initialize(revision);
    session = {
      ...JSON_HEADERS,
      'mcp-session-id': headers.get('mcp-session-id') ?? '',
      'mcp-protocol-version': revision,
    };
  });

  const ask = (method: string, params: Record<string, unknown> = {}): Promise<Answer> =>
    send('POST', session, JSON.stringify({ jsonrpc: '2.0', id: 'r-1', method, params }));

  test('initialize returns the revision that the client asks for, the capabilities and the name of the server', async () => {
    const { message: answer, headers } = await initialize(revision);
    expect(answer).toMatchObject({
      id: 0,
      result: {
        protocolVersion: revision,
        capabilities: { tools: {}, prompts: {}, resources: {} },
        serverInfo: { name: expect.any(String), version: expect.any(String) },
      },
    });
    // The session id must consist of visible ASCII characters, and be too long to guess.
    expect(headers.get('mcp-session-id')).toMatch(/^[\x21-\x7E]{32,}$/);
  });

  test('initialize with an unknown revision returns the newest supported revision', async () => {
    expect((await initialize('1999-01-01')).message?.result).toMatchObject({ protocolVersion: '2025-11-25' });
  });

  test('a request with an unknown revision in its header gets 400', async () => {
    const answer = await send(
      'POST',
      { ...session, 'mcp-protocol-version': '1999-01-01' },
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    );
    expect(answer.status).toBe(400);
  });

  test('a request without an MCP session id gets 400, and a request with an unknown id gets 404', async () => {
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const { 'mcp-session-id': _, ...none } = session;
    expect((await send('POST', none, ping)).status).toBe(400);
    expect((await send('POST', { ...session, 'mcp-session-id': 'elsewhere' }, ping)).status).toBe(404);
  });

  test('a ping gets an empty result with the same id', async () => {
    expect((await ask('ping')).message).toMatchObject({ id: 'r-1', result: {} });
  });

  test('a notification gets 202 and no body, and so does a client’s response', async () => {
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'nobody' } };
    const response = { jsonrpc: '2.0', id: 'nobody', result: {} };
    for (const body of [cancelled, response])
      expect(await send('POST', session, JSON.stringify(body))).toMatchObject({ status: 202, text: '' });
  });

  test('an unknown method gets -32601, and an unknown tool gets -32602', async () => {
    expect((await ask('tools/unknown')).message?.error?.code).toBe(-32_601);
    const called = await ask('tools/call', { name: 'no_such_tool', arguments: {} });
    expect(called.message?.error?.code).toBe(-32_602);
  });

  test('a GET that does not accept an event stream gets 406, and DELETE ends the MCP session', async () => {
    const begun = await initialize(revision);
    const own = { ...session, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    expect((await send('GET', { ...own, accept: 'application/json' })).status).toBe(406);
    expect((await send('DELETE', own)).status).toBe(200);
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect((await send('POST', own, ping)).status).toBe(404);
  });

  test.each(['tools/list', 'resources/list'])(
    '%s refuses a cursor that the bridge did not create',
    async (method) => {
      expect((await ask(method, { cursor: 'made up' })).message?.error?.code).toBe(-32_602);
    },
  );

  test('a request without a required parameter gets -32602 and an error that names the parameter', async () => {
    const answer = await ask('tools/call', { arguments: {} });
    expect(answer.message?.error).toMatchObject({ code: -32_602, message: expect.stringContaining('name') });
    expect((await ask('prompts/get', { name: 'delegate', arguments: {} })).message?.error?.code).toBe(
      -32_602,
    );
  });

  test('a tool call without a required argument returns a result with isError, so that the model can correct the call', async () => {
    const called = await ask('tools/call', { name: 'wait_for_task', arguments: {} });
    expect(called.message?.result).toMatchObject({ isError: true });
  });

  test('the headers of an event stream forbid caching and buffering by proxies', async () => {
    const { headers } = await ask('ping');
    expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(headers.get('cache-control')).toMatch(/no-cache/);
  });
});

describe('MCP over HTTP, in every revision', () => {
  test.each([
    ['a body that is not JSON', '{"jsonrpc":', -32_700],
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', undefined],
    ['a request whose id is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', undefined],
    [
      'a batch',
      '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]',
      undefined,
    ],
  ])('X3 %s gets 400 and a JSON-RPC error', async (_, body, code) => {
    const answer = await send('POST', JSON_HEADERS, body);
    expect(answer.status).toBe(400);
    expect(answer.message?.error?.code).toEqual(code ?? expect.any(Number));
  });

  test('each tool name contains only allowed characters, and each input schema describes an object', async () => {
    const { tools } = listed.parse((await modern('tools/list')).message?.result);
    expect(tools.map(({ name }) => name)).toContain('delegate_task_to_assistant');
    for (const { name, inputSchema } of tools) {
      expect(name).toMatch(/^[A-Za-z0-9_.-]{1,128}$/);
      expect(inputSchema).toMatchObject({ type: 'object' });
    }
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  });

  test('each result and each error has the id of its request', async () => {
    expect((await modern('tools/list')).message?.id).toBe('r-1');
    expect((await modern('tools/unknown')).message?.id).toBe('r-1');
  });
});
