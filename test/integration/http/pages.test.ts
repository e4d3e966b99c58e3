import { beforeAll, expect, test } from '@jest/globals';
import { startServer, TOKEN } from './test-server.ts';
import type { TestServer } from './test-server.ts';

const PAGE = 'https://console.example';
const ROUTES = [
  '/',
  '/message:stream',
  '/tasks/task-1:cancel',
  '/api/tools',
  '/api/tasks/task-1/events',
  '/health',
];

let server: TestServer;
beforeAll(async () => (server = await startServer({ allowedHosts: { publicHosts: [], origins: [PAGE] } })));

function preflight(path: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`${server.url}${path}`, { method: 'OPTIONS', headers });
}

test.each(ROUTES)(
  'X1 a preflight request for %s from a listed page succeeds without a token',
  async (path) => {
    const answer = await preflight(path, {
      Origin: PAGE,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization,a2a-version',
      'Access-Control-Request-Private-Network': 'true',
    });
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': expect.stringMatching(
        /Authorization.*A2A-Version.*\bA2A-Extensions.*X-A2A-Extensions.*Last-Event-ID.*traceparent.*tracestate/,
      ),
      'access-control-allow-private-network': 'true',
      vary: 'Origin',
    });
  },
);

test('X1 a preflight request from any other page fails, and the response does not allow the page', async () => {
  const answer = await preflight('/tasks', {
    Origin: 'https://evil.example',
    'Access-Control-Request-Method': 'GET',
  });
  expect(answer.status).toBe(403);
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
});

test('X1 a preflight request grants no access: the next request needs the token, and so does any other OPTIONS request', async () => {
  const origin = { Origin: PAGE };
  const tokenless = await fetch(`${server.url}/api/tools`, { headers: origin });
  expect(tokenless.status).toBe(401);
  const others = ['/api/tools', '/', '/.well-known/agent-card.json', '/page', '/api/tasks/task-1/events'];
  for (const path of others) expect([path, (await preflight(path, origin)).status]).toEqual([path, 401]);
});

test('an OPTIONS request with a token gets 405 and every method of its address', async () => {
  for (const [path, allowed] of [
    ['/', 'GET, HEAD, POST'],
    ['/.well-known/agent-card.json', 'GET, HEAD'],
    ['/api/tasks/task-1/events', 'GET, HEAD'],
    ['/message:send', 'POST'],
  ] as const) {
    const answer = await preflight(path, { Authorization: `Bearer ${TOKEN}` });
    expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, allowed]);
  }
});

test('a listed page can read responses and refusals; a client that is not a browser page gets no CORS headers', async () => {
  const authorization = { Authorization: `Bearer ${TOKEN}` };
  for (const path of ['/health', '/tasks/unknown', '/nothing/here']) {
    const toPage = await fetch(`${server.url}${path}`, { headers: { Origin: PAGE, ...authorization } });
    expect(toPage.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(toPage.headers.get('access-control-expose-headers')?.split(', ')).toEqual(
      expect.arrayContaining(['A2A-Extensions', 'X-A2A-Extensions', 'Retry-After', 'WWW-Authenticate']),
    );
    const toOther = await fetch(`${server.url}${path}`, { headers: authorization });
    expect(toOther.headers.get('access-control-allow-origin')).toBeNull();
  }
});
