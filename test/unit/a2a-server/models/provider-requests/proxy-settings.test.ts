import { describe, expect, test } from '@jest/globals';
import {
  proxyFor,
  readProxySettings,
} from '../../../../../a2a-server/models/provider-requests/proxy-settings.ts';

function proxied(url: string, env: Record<string, string>): string | undefined {
  const settings = readProxySettings(env);
  return settings && proxyFor(new URL(url), settings)?.href;
}

const BOTH = { HTTPS_PROXY: 'http://secure.example:1', HTTP_PROXY: 'http://plain.example:2' };

describe('the proxy for a request to a provider', () => {
  test('the proxy comes from the variable of the URL’s scheme; without a variable there is no proxy', () => {
    expect(proxied('https://api.example/v1', BOTH)).toBe('http://secure.example:1/');
    expect(proxied('http://api.example/v1', BOTH)).toBe('http://plain.example:2/');
    expect(proxied('http://api.example/v1', { HTTPS_PROXY: 'http://secure.example:1' })).toBeUndefined();
    expect(readProxySettings({ HTTPS_PROXY: ' ', NO_PROXY: 'x' })).toBeUndefined();
  });

  test('the variable in lower case has priority over the one in capitals, and its value needs no scheme', () => {
    const env = { https_proxy: 'proxy.example:3128', HTTPS_PROXY: 'http://other.example' };
    expect(proxied('https://api.example', env)).toBe('http://proxy.example:3128/');
  });

  test.each([
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

  test.each(['http://localhost:11434', 'http://127.0.0.1:8000', 'http://[::1]:1', 'https://a.localhost'])(
    'no proxy is used for this machine: %s',
    (url) => expect(proxied(url, BOTH)).toBeUndefined(),
  );

  test.each(['socks5://user:secret@proxy:1080', 'http://', 'http://pro xy'])(
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
