import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { listen } from '../../../../a2a-server/startup/listen.ts';
import { AGENT_NAME } from '../../../../a2a-server/http/routes/agent-card.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';

const TOKEN = 'a-token-of-the-state-directory';

describe('a server port that another program uses', () => {
  const open: Server[] = [];
  afterEach(() => {
    for (const server of open.splice(0)) server.close();
  });
  const own = { token: TOKEN, stateDir: '/state', log: createLogger({ name: 'test', level: 'silent' }) };

  async function occupied(listener: RequestListener): Promise<number> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    open.push(server);
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }
  function another(): Server {
    const server = createServer();
    open.push(server);
    return server;
  }

  it('R104 X1 a program with a copy of the agent card never receives the token', async () => {
    const credentials: unknown[] = [];
    const port = await occupied((request, response) => {
      credentials.push(request.headers.authorization);
      response.end(JSON.stringify({ name: AGENT_NAME, pid: 7, stateDirectory: '/state' }));
    });
    await expect(listen(another(), { host: '127.0.0.1', port, portChosen: true }, own)).rejects.toThrow(
      'another token',
    );
    expect(credentials).toEqual([undefined, undefined]);
  });

  it('a free port replaces the default port', async () => {
    const port = await occupied((_, response) => response.end('hello'));
    const server = another();
    const got = await listen(server, { host: '127.0.0.1', port, portChosen: false }, own);
    expect(got).not.toBe(port);
    expect(server.address()).toMatchObject({ port: got });
  });

  it('an address of another machine is refused in words', async () => {
    // RFC 5737 §3: no machine has this address.
    const elsewhere = listen(another(), { host: '192.0.2.1', port: 0, portChosen: true }, own);
    await expect(elsewhere).rejects.toThrow(
      'cannot listen on 192.0.2.1:0: this machine does not have this address. Choose another',
    );
  });

  it('a port that the operator chose is refused', async () => {
    const port = await occupied((_, response) => response.end('hello'));
    await expect(listen(another(), { host: '127.0.0.1', port, portChosen: true }, own)).rejects.toThrow(
      `Port ${port} of 127.0.0.1 is taken`,
    );
  });
});
