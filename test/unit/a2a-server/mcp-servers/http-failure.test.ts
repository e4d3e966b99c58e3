import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { z } from 'zod';
import { isConnectionNeverOpened } from '../../../../a2a-server/mcp-servers/transports/http-failure.ts';
import { openOwnSocketHttp } from '../../../../a2a-server/mcp-servers/transports/own-socket-http.ts';

const failed = (cause: unknown): Error => new TypeError('fetch failed', { cause });
const system = (code: string, syscall: string): Error =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

describe('an HTTP request that did not connect', () => {
  it.each([
    system('ECONNREFUSED', 'connect'),
    system('EHOSTUNREACH', 'connect'),
    system('ENETUNREACH', 'connect'),
    system('ENOTFOUND', 'getaddrinfo'),
    Object.assign(new Error('Connect Timeout Error'), { code: 'UND_ERR_CONNECT_TIMEOUT' }),
    new AggregateError([system('ECONNREFUSED', 'connect'), system('ENETUNREACH', 'connect')]),
  ])('a request fails as "not connected" with %s', (cause) => {
    expect(isConnectionNeverOpened(failed(cause))).toBe(true);
  });

  it.each([
    system('EHOSTUNREACH', 'read'),
    system('ENETUNREACH', 'write'),
    system('ECONNRESET', 'read'),
    new AggregateError([system('ECONNREFUSED', 'connect'), system('EHOSTUNREACH', 'read')]),
    undefined,
  ])(
    'a request does not fail as "not connected" with %s, because the server may have received it',
    (cause) => {
      expect(isConnectionNeverOpened(failed(cause))).toBe(false);
    },
  );

  it('a request to a port without a listener fails as "not connected"', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = z.object({ port: z.number() }).parse(server.address());
    await new Promise((resolve) => server.close(resolve));
    const http = openOwnSocketHttp({});
    const error: unknown = await http.fetch(`http://127.0.0.1:${port}/`).catch((thrown: unknown) => thrown);
    await http.destroy();
    expect(isConnectionNeverOpened(error)).toBe(true);
  });
});
