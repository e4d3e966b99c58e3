import { expect, test } from '@jest/globals';
import { canceledText } from '../../../../../a2a-server/http/wire/event-projection.ts';
import { EXPIRY } from '../../../../../a2a-server/task/expiry.ts';

test.each([
  [
    'the person who cancelled it, and where',
    { principal: 'local', channel: 'cli' },
    'Cancelled by the local user on the command line: Why.',
  ],
  [
    'another user by name',
    { principal: 'ada', channel: 'page' },
    'Cancelled by ada on an approval page: Why.',
  ],
  [
    'the disconnect of a client',
    { principal: 'local', channel: 'disconnect' },
    'Cancelled by the local user through a disconnect: Why.',
  ],
  ['the server, if nobody decided in time', EXPIRY, 'Cancelled by the server: Why.'],
])('the text of a cancelled task names %s', (_, by, text) => {
  expect(canceledText(by, 'Why.')).toBe(text);
});
