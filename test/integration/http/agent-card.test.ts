/** Tests the rules of A2A 1.0 and 0.3 for the content of the agent card. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { request, startServer, TOKEN } from './test-server.ts';
import type { TestServer } from './test-server.ts';

let server: TestServer;
beforeAll(async () => (server = await startServer()));

const cardSchema = z.looseObject({
  supportedInterfaces: z.array(
    z.object({ url: z.string(), protocolBinding: z.string(), protocolVersion: z.string() }),
  ),
  capabilities: z.looseObject({
    extensions: z.array(z.looseObject({ uri: z.string(), required: z.boolean().default(false) })),
  }),
});

async function card(version = '1.0'): Promise<unknown> {
  const headers = { authorization: undefined, 'a2a-version': version };
  return (await request(server, { method: 'GET', path: '/.well-known/agent-card.json', headers })).body;
}

describe('the agent card', () => {
  test('the agent card lists JSON-RPC and HTTP+JSON with their URLs, A2A 1.0 first, and no other binding', async () => {
    const { supportedInterfaces } = cardSchema.parse(await card());
    expect(supportedInterfaces).toEqual([
      { url: server.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: server.url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: server.url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: server.url, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ]);
  });

  test('the agent card of A2A 0.3 has `url` and `protocolVersion`', async () => {
    expect(await card('0.3')).toMatchObject({ url: server.url, protocolVersion: '0.3' });
  });

  test('the agent card of A2A 0.3 has its main URL with JSON-RPC, and HTTP+JSON as an additional interface', async () => {
    expect(await card('0.3')).toMatchObject({
      url: server.url,
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [{ url: server.url, transport: 'HTTP+JSON' }],
    });
  });

  test('the agent card names each extension with its version, and requires no extension', async () => {
    const { extensions } = cardSchema.parse(await card()).capabilities;
    expect(extensions.length).toBeGreaterThan(0);
    for (const { uri, required } of extensions) {
      expect(uri).toMatch(/:v\d+$/);
      expect(required).toBe(false);
    }
  });

  test.each(['1.0', '0.3'])(
    'X1 the agent card of %s contains no token and no path of the server’s machine',
    async (version) => {
      const text = JSON.stringify(await card(version));
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain(process.cwd());
      expect(text).not.toMatch(/"\/(?:home|root|tmp|state)/);
    },
  );
});
