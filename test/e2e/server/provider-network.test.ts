/** A real server that reaches its provider through a proxy, and a provider with a certificate of a private authority. */
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

test('HTTPS_PROXY and NODE_EXTRA_CA_CERTS lead to the provider, and the password of the proxy is in no log', async () => {
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

test('a proxy that refuses the password fails the task at once, and the sentence names the variable without its value', async () => {
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

test('a provider on this machine needs no proxy', async () => {
  const { task } = await answerOver('127.0.0.1', {
    HTTPS_PROXY: `http://${proxy.host}`,
    NODE_EXTRA_CA_CERTS: authority.file,
  });
  expect(task).toMatchObject({ state: 'COMPLETED', text: 'Hello.' });
  expect(proxy.tunnels).toEqual([]);
});

test('a certificate of an unknown authority fails the task at once, and the sentence names NODE_EXTRA_CA_CERTS', async () => {
  const { task } = await answerOver('127.0.0.1', {});
  expect(task).toMatchObject({ state: 'FAILED' });
  expect(task.statusText).toMatch(/not trusted, because .*certificate.*Set NODE_EXTRA_CA_CERTS/);
  expect(provider.received).toHaveLength(0);
});
