import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createProviderFetch,
  proxyFor,
  readProxySettings,
} from '../../../../../a2a-server/models/provider-requests/provider-fetch.ts';
import { startFakeModelEndpoint, type FakeModelEndpoint } from '../../../../support/fake-model-endpoint.ts';

let endpoint: FakeModelEndpoint;
beforeEach(async () => {
  endpoint = await startFakeModelEndpoint();
});
afterEach(() => endpoint.close());

const post = (url: string): Promise<Response> =>
  createProviderFetch({})(url, { method: 'POST', headers: { 'x-api-key': 'secret' }, body: '{}' });

describe('a request to a model provider', () => {
  it.each([301, 302, 303, 307, 308])(
    'X1 does not follow a redirect with status %s, because the request contains the key',
    async (status) => {
      const other = await startFakeModelEndpoint();
      const location = `${other.url}/login?code=private`;
      endpoint.script({ type: 'status', status, headers: { location } });
      await expect(post(`${endpoint.url}/v1/messages`)).rejects.toMatchObject({
        reason: 'AGENT_ERROR',
        message: expect.stringContaining(`${endpoint.url} redirects to ${other.url}/login.`),
      });
      expect(other.received).toEqual([]);
      await other.close();
    },
  );

  it('X3 is cut off if the provider sends an event of more than 16 MB', async () => {
    endpoint.script({ type: 'raw', body: `data: ${'a'.repeat(17_000_000)}\n\n` });
    const response = await post(`${endpoint.url}/v1/messages`);
    await expect(response.text()).rejects.toMatchObject({
      reason: 'AGENT_ERROR',
      message: `The answer of ${endpoint.url} was cut off: the peer sent an event of more than 16 MB.`,
    });
  });

  it('X3 reads 1 MB of an error response, so that its status decides about a retry', async () => {
    endpoint.script({ type: 'status', status: 503, body: 'a'.repeat(1_100_000) });
    const response = await post(`${endpoint.url}/v1/messages`);
    expect(response.status).toBe(503);
    expect((await response.text()).length).toBe(1024 * 1024);
  });
});

function proxied(url: string, env: Record<string, string>): string | undefined {
  const settings = readProxySettings(env);
  return settings && proxyFor(new URL(url), settings)?.href;
}

const BOTH = { HTTPS_PROXY: 'http://secure.example:1', HTTP_PROXY: 'http://plain.example:2' };

describe('the proxy for a request to a provider', () => {
  it('the proxy comes from the variable of the URL’s scheme; without a variable there is no proxy', () => {
    expect(proxied('https://api.example/v1', BOTH)).toBe('http://secure.example:1/');
    expect(proxied('http://api.example/v1', BOTH)).toBe('http://plain.example:2/');
    expect(proxied('http://api.example/v1', { HTTPS_PROXY: 'http://secure.example:1' })).toBeUndefined();
    expect(readProxySettings({ HTTPS_PROXY: ' ', NO_PROXY: 'x' })).toBeUndefined();
  });

  it('the variable in lower case has priority over the one in capitals, and its value needs no scheme', () => {
    const env = { https_proxy: 'proxy.example:3128', HTTPS_PROXY: 'http://other.example' };
    expect(proxied('https://api.example', env)).toBe('http://proxy.example:3128/');
  });

  it.each([
    ['api.example', 'https://api.example', true],
    ['api.example', 'https://eu.api.example', true],
    ['.api.example', 'https://api.example', true],
    ['*.example', 'https://api.example', true],
    ['API.example', 'https://Api.Example.', true],
    ['api.example:8443', 'https://api.example', false],
    ['api.example:443', 'https://api.example', true],
    ['x, api.example', 'https://api.example', true],
    ['fd00::1', 'https://[fd00::1]/', true],
    ['*', 'https://api.example', true],
    ['pi.example', 'https://api.example', false],
    ['api.example.com', 'https://api.example', false],
    ['', 'https://api.example', false],
  ])('with NO_PROXY=%s and the URL %s, a direct connection is %p', (except, url, direct) => {
    expect(proxied(url, { ...BOTH, NO_PROXY: except }) === undefined).toBe(direct);
  });

  it.each(['http://localhost:11434', 'http://127.0.0.1:8000', 'http://[::1]:1', 'https://a.localhost'])(
    'no proxy is used for this machine: %s',
    (url) => expect(proxied(url, BOTH)).toBeUndefined(),
  );

  it.each(['socks5://user:secret@proxy:1080', 'http://', 'http://pro xy'])(
    'X1 an invalid proxy stops the start, and the error contains no password: %s',
    (value) => {
      expect(() => readProxySettings({ HTTPS_PROXY: value })).toThrow(
        expect.objectContaining({
          reason: 'CONFIGURATION',
          message: expect.not.stringContaining('secret'),
          facts: { variable: 'HTTPS_PROXY' },
        }),
      );
    },
  );
});
