/** Tests the routes for load balancers and process managers. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { request, startServer, type TestServer } from './test-server.ts';

let server: TestServer;
beforeAll(async () => (server = await startServer()));

const ask = (path: string) => request(server, { method: 'GET', path, headers: { authorization: undefined } });

/** Sends a request with the Host header of another machine, which `fetch` does not allow. */
async function statusFromOutside(path: string): Promise<number | undefined> {
  const sent = httpRequest({ port: server.port, path, headers: { host: '10.1.2.3:8080' } }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

describe('GET /livez and GET /readyz', () => {
  test.each(['/livez', '/readyz'])('%s needs no token, and tells only the state', async (path) => {
    const answer = await ask(path);
    expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await request(server, { method: 'POST', path })).toMatchObject({ status: 405 });
  });

  test('they accept the Host header of a load balancer, other routes do not', async () => {
    expect(await statusFromOutside('/readyz')).toBe(200);
    expect(await statusFromOutside('/livez')).toBe(200);
    expect(await statusFromOutside('/.well-known/agent-card.json')).toBe(403);
  });

  test('while the server closes, it is alive but not ready', async () => {
    server.setClosing(true);
    expect(await ask('/readyz')).toMatchObject({
      status: 503,
      body: { status: 'unavailable', reasons: ['closing'] },
    });
    expect(await ask('/livez')).toMatchObject({ status: 200 });
    server.setClosing(false);
    expect(await ask('/readyz')).toMatchObject({ status: 200 });
  });
});
