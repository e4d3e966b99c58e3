import { expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { Agent } from '../../../../bridge/agents/agent.ts';
import { cleanUpLater } from '../../../support/clean-up.ts';
import { listenOnLoopback } from '../../../support/listen-on-loopback.ts';

test.each([404, 410, 301])(
  'if the endpoint of an agent has moved (HTTP %d), the next request reads the card again',
  async (status) => {
    let path = '/old';
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url?.endsWith('agent-card.json') === true) {
        const supportedInterfaces = [
          { url: `http://${host}${path}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        ];
        response.end(JSON.stringify({ name: 'moving', supportedInterfaces, capabilities: {} }));
        return;
      }
      response.statusCode = request.url === path ? 200 : status;
      const result = { tasks: [], nextPageToken: '', pageSize: 1, totalSize: 0 };
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
    });
    const { host, close } = await listenOnLoopback(server);
    cleanUpLater(close);
    const agent = new Agent('moving', () => Promise.resolve({ url: `http://${host}`, headers: {} }));
    const list = (): Promise<unknown> => agent.ask((connection) => connection.list({}));
    await expect(list()).resolves.toMatchObject({ tasks: [] });
    path = '/new';
    await expect(list()).rejects.toMatchObject({ reason: 'AGENT_ERROR' });
    await expect(list()).resolves.toMatchObject({ tasks: [] });
  },
);
