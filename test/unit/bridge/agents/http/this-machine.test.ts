import { expect, test } from '@jest/globals';
import { isOnThisMachine } from '../../../../../bridge/agents/http/this-machine.ts';

test.each([
  'http://127.0.0.1:1/',
  'http://127.1/',
  'http://0/',
  'http://0.0.0.0/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://localhost./',
  'http://LOCALHOST/',
  'http://a.localhost/',
])('%s reaches this machine', (url) => expect(isOnThisMachine(url)).toBe(true));

test.each(['https://a.example/', 'http://10.0.0.1/', 'http://[2001:db8::1]/', 'http://localhost.example/'])(
  '%s does not',
  (url) => expect(isOnThisMachine(url)).toBe(false),
);
