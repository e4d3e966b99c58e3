import { expect, test } from '@jest/globals';
import { allowedHostsAndOrigins } from '../../../../a2a-server/startup/allowed-hosts-and-origins.ts';

const local = { host: '127.0.0.1', publicUrl: undefined, publicHost: [], allowOrigin: [] };

test('without a public URL, requests may name the listen address and the listed hosts and origins', () => {
  const settings = { ...local, publicHost: ['Agent.Example'], allowOrigin: ['https://console.example'] };
  expect(allowedHostsAndOrigins(settings)).toEqual({
    publicHosts: ['127.0.0.1', 'agent.example'],
    origins: ['https://console.example'],
  });
});

test('behind a proxy, requests may also name the host and the origin of the public URL', () => {
  expect(allowedHostsAndOrigins({ ...local, publicUrl: 'https://agent.example:8443/a2a/' })).toEqual({
    publicHosts: ['127.0.0.1', 'agent.example'],
    origins: ['https://agent.example:8443'],
  });
});

test('the host of a public URL with an IPv6 address has no brackets', () => {
  expect(allowedHostsAndOrigins({ ...local, publicUrl: 'http://[::1]:8080' }).publicHosts).toContain('::1');
});
