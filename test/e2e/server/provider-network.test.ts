/** Tests a real server whose provider is behind a proxy, or has a certificate of a private authority. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startFakeModelEndpoint, type FakeModelEndpoint } from '../../support/fake-model-endpoint.ts';
import { privateAuthority, type PrivateAuthority } from '../../support/private-authority.ts';
import { newServerHome } from '../../support/server-program.ts';
import { stage } from '../../support/stage.ts';
import { startTunnelProxy, type TunnelProxy } from '../../support/tunnel-proxy.ts';

let authority: PrivateAuthority;
let provider: FakeModelEndpoint;
let proxy: TunnelProxy;
beforeEach(async () => {
  authority = await privateAuthority('DNS:provider.test,IP:127.0.0.1');
  provider = await startFakeModelEndpoint(authority);
  provider.otherwise(() => ({ type: 'turn', turn: { text: ['Hello.'] } }));
  proxy = await startTunnelProxy('user:pass word');
});
afterEach(async () => {
  await provider.close();
  await proxy.close();
});

/** Runs a task on a server whose provider has this host name. @returns the answer of the task */
async function answerOver(host: string, env: Record<string, string>) {
  const home = await newServerHome();
  const { port } = new URL(provider.url);
  const server = {
    model: 'anthropic:claude-sonnet-4-5',
    baseUrls: { anthropic: `https://${host}:${port}/v1` },
  };
  await writeFile(join(home.stateDir, 'config.json'), JSON.stringify({ server }));
  const on = await stage({ home, env: { ANTHROPIC_API_KEY: 'key', ...env } });
  const task = await on.peer.send('Say hello');
  return { task, log: on.server.log(), port };
}

test('the server reaches the provider through HTTPS_PROXY with NODE_EXTRA_CA_CERTS, and no log contains the proxy’s password', async () => {
  const { task, log, port } = await answerOver('provider.test', {
    HTTPS_PROXY: `http://user:pass%20word@${proxy.host}`,
    NODE_EXTRA_CA_CERTS: authority.file,
  });
  expect(task).toMatchObject({ state: 'COMPLETED', text: 'Hello.' });
  const authorization = `Basic ${Buffer.from('user:pass word').toString('base64')}`;
  expect(proxy.tunnels[0]).toEqual({ target: `provider.test:${port}`, authorization });
  expect(new Set(proxy.tunnels.map((tunnel) => JSON.stringify(tunnel))).size).toBe(1);
  expect(provider.received).toHaveLength(1);
  expect(log).not.toContain('pass');
});

test('if a proxy refuses the password, the task fails at once, and the error names the variable without its value', async () => {
  const { task } = await answerOver('provider.test', {
    https_proxy: `http://user:wrong@${proxy.host}`,
    NODE_EXTRA_CA_CERTS: authority.file,
  });
  expect(task).toMatchObject({ state: 'FAILED' });
  expect(task.statusText).toMatch(
    /The proxy refused the request \(407\).*user and the password in HTTPS_PROXY/,
  );
  expect(task.statusText).not.toContain('wrong');
  expect(provider.received).toHaveLength(0);
});

test('the server reaches a provider on this machine without the proxy', async () => {
  const { task } = await answerOver('127.0.0.1', {
    HTTPS_PROXY: `http://${proxy.host}`,
    NODE_EXTRA_CA_CERTS: authority.file,
  });
  expect(task).toMatchObject({ state: 'COMPLETED', text: 'Hello.' });
  expect(proxy.tunnels).toEqual([]);
});

test('if an unknown authority signed the provider’s certificate, the task fails at once, and the error names NODE_EXTRA_CA_CERTS', async () => {
  const { task } = await answerOver('127.0.0.1', {});
  expect(task).toMatchObject({ state: 'FAILED' });
  expect(task.statusText).toMatch(/not trusted, because .*certificate.*Set NODE_EXTRA_CA_CERTS/);
  expect(provider.received).toHaveLength(0);
});
