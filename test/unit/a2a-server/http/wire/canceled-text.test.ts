import { expect, test } from '@jest/globals';
import { canceledText } from '../../../../../a2a-server/http/wire/event-projection.ts';
import { EXPIRY } from '../../../../../a2a-server/task/expiry.ts';

test.each([
  [
    'the person who cancelled it, and where',
    { principal: 'local', channel: 'cli' },
    'Cancelled by local over cli: Why.',
  ],
  ['the server, if nobody decided in time', EXPIRY, 'Cancelled by the server: Why.'],
])('the text of a cancelled task names %s', (_, by, text) => {
  expect(canceledText(by, 'Why.')).toBe(text);
});
