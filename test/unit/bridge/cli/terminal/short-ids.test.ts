import { expect, test } from '@jest/globals';
import { sessionWord } from '../../../../../bridge/cli/terminal/short-ids.ts';

test.each([
  ['session-b615d150-191a-497b-83b6-3172b179d62f', 'session-b615d150'],
  ['18b1f3ed-8e12-47d1-8952-761cce1c0e72', '18b1f3ed'],
  // The first digits of a UUID of version 7 are the time, so that the ids of a minute have them in common.
  ['019ac9d2-3c1f-7b52-9c41-5d1f0a8e7c33', '019ac9d2-3c1f-7b52-9c41-5d1f0a8e7c33'],
  ['session-1', 'session-1'],
  ['an id; rm', "'an id; rm'"],
])('a command names the session %s as %s', (id, word) => {
  expect(sessionWord(id)).toBe(word);
});
