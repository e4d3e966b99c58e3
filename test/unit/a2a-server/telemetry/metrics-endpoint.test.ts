import { expect, it } from '@jest/globals';
import { metricsEndpointSchema } from '../../../../a2a-server/telemetry/metrics-endpoint.ts';

it.each([
  ['off', { type: 'off' }],
  ['on', { type: 'own-address' }],
  ['127.0.0.1:9464', { type: 'other-address', host: '127.0.0.1', port: 9464 }],
  ['[::1]:0', { type: 'other-address', host: '::1', port: 0 }],
])('the setting metrics takes %s', (text, value) => {
  expect(metricsEndpointSchema.parse(text)).toEqual(value);
});

it.each(['', 'yes', '9464', 'host', 'host:99999', 'http://host:1', '::1:9464'])(
  'the setting metrics refuses "%s"',
  (text) => {
    expect(metricsEndpointSchema.safeParse(text).success).toBe(false);
  },
);
