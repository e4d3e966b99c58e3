import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { FakeAgent } from '../../support/fake-agent.ts';
import { bridgeCommand } from './support/bridge-program.ts';
import {
  DELEGATE,
  LIST,
  closeAfterTest,
  program,
  startAgent,
  startClient,
  startHttp,
  stateDirectory,
} from './support/bridge-stage.ts';
import { ask, type HttpBridge, INITIALIZE, MCP_HEADERS, startHttpBridge } from './support/http-bridge.ts';
import { type RawClient, textOf } from './support/raw-client.ts';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';

const PAGE = 'https://console.example.com';

describe('access control of MCP over HTTP', () => {
  let agent: FakeAgent;
  let bridge: HttpBridge;

  beforeAll(async () => {
    agent = await FakeAgent.start();
    bridge = await startHttpBridge(program, {
      stateDir: await stateDirectory(),
      agentUrl: agent.url,
      args: ['--http-allow-origin', PAGE, '--log-level', 'trace'],
    });
  });
  afterAll(async () => {
    await bridge.kill();
    await agent.stop();
  });

  const initialize = (headers: Record<string, string>) =>
    ask(bridge.url, { headers: { ...MCP_HEADERS, ...headers }, body: INITIALIZE });

  test.each([
    ['no token', {}],
    ['another token', { authorization: 'Bearer 0123456789012345678901234567890123456789012' }],
    ['a part of the token', { authorization: 'part' }],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['a token of 10 kB', { authorization: `Bearer ${'x'.repeat(10_000)}` }],
  ])(
    'X1 a request with %s gets 401, and the response names only the file that contains the token',
    async (what, headers) => {
      const shown =
        what === 'a part of the token' ? { authorization: `Bearer ${bridge.token.slice(0, -1)}` } : headers;
      for (const method of ['POST', 'GET', 'DELETE', 'PUT', 'OPTIONS']) {
        const answer = await ask(bridge.url, { method, headers: { ...MCP_HEADERS, ...shown } });
        expect(answer.status).toBe(401);
        expect(answer.headers['www-authenticate']).toBe('Bearer realm="mcp-a2a-bridge"');
        expect(answer.body).toContain('http-token');
        expect(answer.body).not.toContain(bridge.token.slice(0, 10));
      }
      const elsewhere = await ask(new URL('/anything', bridge.url).href, { headers: shown });
      expect(elsewhere.status).toBe(401);
    },
  );

  test('X1 the bridge creates its token, only the token file’s owner can read it, and no log contains it', async () => {
    const path = join(bridge.stateDir, 'http-token');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await initialize(bridge.credentials)).status).toBe(200);
    expect(bridge.stderr()).toContain('http-token');
    expect(bridge.stderr()).not.toContain(bridge.token);
  });

  test.each(['evil.example.com', 'evil.example.com:80', '127.0.0.1.evil.example.com', '169.254.1.1'])(
    'X1 a request with the Host header %p gets 403, even with the token',
    async (host) => {
      expect((await initialize({ ...bridge.credentials, host })).status).toBe(403);
    },
  );

  test.each(['localhost', '127.0.0.1', '[::1]'])('the bridge accepts the Host header %s', async (name) => {
    const host = `${name}:${new URL(bridge.url).port}`;
    expect((await initialize({ ...bridge.credentials, host })).status).toBe(200);
  });

  test.each([
    'https://evil.example.com',
    'null',
    'http://127.0.0.1:8080',
    `${PAGE}.evil.example.com`,
    'http://console.example.com',
  ])(
    'X1 a browser page of the origin %p gets 403 and cannot read the response, even with the token',
    async (origin) => {
      const answer = await initialize({ ...bridge.credentials, origin });
      expect(answer.status).toBe(403);
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      const preflight = await ask(bridge.url, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
      expect(preflight.status).toBe(403);
    },
  );

  test('X1 the bridge accepts a browser page of its own origin only with the token', async () => {
    const { origin } = new URL(bridge.url);
    const answer = await initialize({ ...bridge.credentials, origin });
    expect(answer.status).toBe(200);
    expect((await initialize({ ...bridge.credentials, origin, authorization: 'Bearer wrong' })).status).toBe(
      401,
    );
    expect((await initialize({ ...bridge.credentials, origin: `${origin}0` })).status).toBe(403);
  });

  test('a browser page of an allowed origin can send a preflight request, call with the token, and read the session id', async () => {
    const preflight = await ask(bridge.url, {
      method: 'OPTIONS',
      headers: {
        origin: PAGE,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,mcp-protocol-version,mcp-session-id',
        'access-control-request-private-network': 'true',
      },
    });
    expect(preflight).toMatchObject({
      status: 204,
      body: '',
      headers: {
        'access-control-allow-origin': PAGE,
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-private-network': 'true',
        vary: 'Origin',
      },
    });
    const allowed = String(preflight.headers['access-control-allow-headers']).toLowerCase();
    for (const name of [
      'authorization',
      'content-type',
      'mcp-session-id',
      'mcp-protocol-version',
      'mcp-method',
      'mcp-name',
      'last-event-id',
    ]) {
      expect(allowed).toContain(name);
    }
    const answer = await initialize({ ...bridge.credentials, origin: PAGE });
    expect(answer.status).toBe(200);
    expect(answer.headers['mcp-session-id']).toBeTruthy();
    expect(answer.headers['access-control-allow-origin']).toBe(PAGE);
    expect(String(answer.headers['access-control-expose-headers'])).toContain('Mcp-Session-Id');
    // A page must be able to read a refusal, because then it can report a lost token.
    const refused = await initialize({ origin: PAGE });
    expect(refused.status).toBe(401);
    expect(refused.headers['access-control-allow-origin']).toBe(PAGE);
  });

  test.each([
    ['not JSON', '{', 400],
    ['an empty batch', '[]', 400],
    ['nested 100,000 deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 400],
    ['5 MB', `{"x":"${'y'.repeat(5_000_000)}"}`, 413],
    ['a call without a session', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', 400],
  ])('X3 a body that is %s is refused, and the next request succeeds', async (_, body, status) => {
    const answer = await ask(bridge.url, { headers: { ...MCP_HEADERS, ...bridge.credentials }, body });
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ jsonrpc: '2.0', error: { message: expect.any(String) } });
    expect((await initialize(bridge.credentials)).status).toBe(200);
  });

  test.each([
    ['another address', { path: '/other' }, 404],
    ['another type of content', { headers: { 'content-type': 'text/plain' } }, 415],
    ['a session that does not exist', { headers: { 'mcp-session-id': 'nowhere' } }, 404],
    ['a session id of 8 kB', { headers: { 'mcp-session-id': 'x'.repeat(8_000) } }, 404],
    ['a stream without a session', { method: 'GET' }, 400],
    ['an end without a session', { method: 'DELETE' }, 400],
    ['another method', { method: 'PUT' }, 405],
    ['a method the Fetch Standard forbids', { method: 'TRACE' }, 405],
  ])(
    '%s returns the matching HTTP status',
    async (_, { path = '/mcp', method = 'POST', headers = {} }: Odd, status) => {
      const answer = await ask(new URL(path, bridge.url).href, {
        method,
        headers: { ...MCP_HEADERS, ...bridge.credentials, ...headers },
        ...(method === 'POST' ? { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}' } : {}),
      });
      expect(answer.status).toBe(status);
    },
  );
});

interface Odd {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
}

describe('a call over HTTP that its client cancels', () => {
  test.each([7, 'seven'])(
    'R48 R50 with the id %p, the stream’s last event contains the reason, and then the stream ends',
    async (requestId) => {
      const agent = await startAgent({ onMessage: (task) => task.work() });
      const bridge = await startHttp(agent);
      const known = { ...MCP_HEADERS, ...bridge.credentials };
      const begun = await ask(bridge.url, { headers: known, body: INITIALIZE });
      const headers = { ...known, 'mcp-session-id': String(begun.headers['mcp-session-id']) };
      const post = (message: object) =>
        ask(bridge.url, { headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
      const call = post({
        id: requestId,
        method: 'tools/call',
        params: {
          name: 'delegate_task_to_assistant',
          arguments: { task: 'long' },
          _meta: { progressToken: 'p' },
        },
      });
      await agent.asked('SendStreamingMessage');
      const params = { requestId, reason: 'AbortError: user-cancel' };
      expect((await post({ method: 'notifications/cancelled', params })).status).toBe(202);
      // These are all events up to the end of the stream.
      const events = (await call).body.split('\n').filter((line) => line.startsWith('data: '));
      expect(events.at(-1)).toMatch(
        /notifications\/progress.*the person stopped it.*Its task was not touched/,
      );
      expect(events.join()).not.toContain('"result"');
    },
  );
});

async function exitOf(args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const stateDir = await stateDirectory();
  const command = bridgeCommand(program, { stateDir, args });
  const child = spawn(command.command, command.args, {
    env: command.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(child, 'close');
  return { code: child.exitCode, said };
}

async function clientOf(args: readonly string[], agentUrl = 'http://127.0.0.1:1'): Promise<RawClient> {
  return startClient({ url: agentUrl }, { args: [...args, '--log-level', 'info'] });
}

describe('HTTP and stdio in one bridge', () => {
  test('B2 one bridge serves stdio and HTTP, ends when the client closes stdin, and writes only MCP to stdout', async () => {
    const agent = await startAgent({ onMessage: (task) => task.work().say('done').complete() });
    const client = await clientOf(['--http', '0'], agent.url);
    await client.logged(/serving MCP over HTTP/);
    const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(client.stderr)?.[0] ?? '';
    await client.call(DELEGATE, { task: 'go' });
    expect((await ask(url)).status).toBe(401);
    expect(await client.close()).toBe(0);
    await expect(ask(url)).rejects.toThrow('no answer');
    expect(client.invalidLines).toEqual([]);
  });

  test('if the port is in use, the bridge reports it and still serves the client at stdin', async () => {
    const { port, close } = await listenOnLoopback(createServer());
    closeAfterTest(close);
    const client = await clientOf(['--http', String(port)]);
    await client.logged(/MCP is not served over HTTP/);
    expect(client.stderr).toContain('another program listens there, perhaps another bridge');
    expect(textOf(await client.call(LIST, {}))).toContain('No answer from agent');
    const alone = await exitOf(['--http', String(port), '--no-stdio']);
    expect(alone).toEqual({ code: 78, said: expect.stringContaining('Choose another port with --http') });
  });

  test.each([
    [['--no-stdio'], 78, /serves no client/],
    [['--http=seventy'], 78, /a port from 0 to 65535/],
    [['--on-cancel', 'kill'], 78, /detach/],
    [['--nothing-of-the-kind'], 2, /unknown option/],
    [['--http-allow-origin'], 2, /argument missing/],
    [['--help'], 0, /^$/],
  ])('with %j, the process exits with %i and prints the reason', async (args, code, said) => {
    expect(await exitOf(args)).toEqual({ code, said: expect.stringMatching(said) });
  });
});
