import { expect, test } from '@jest/globals';
import { channelText } from '../../../../shared/text/channel-text.ts';

test('a channel of this project has words', () => {
  expect(channelText('page')).toBe('on an approval page');
  expect(channelText('a2a')).toBe('over A2A');
});

test('the text shows hidden characters of a foreign channel, and takes no word from a prototype', () => {
  expect(channelText('my\u202ebot')).toBe('over "my\\u{202e}bot"');
  expect(channelText('constructor')).toBe('over "constructor"');
});
