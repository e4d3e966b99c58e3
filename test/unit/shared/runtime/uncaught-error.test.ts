import { expect, test } from '@jest/globals';
import { uncaughtErrorText } from '../../../../shared/runtime/uncaught-error.ts';

test.each([
  ['boom', 'boom'],
  ['Ends with a point.', 'Ends with a point'],
  ['the first line\n    at here', 'the first line'],
  ['safe\u{202e}\u{1b}[2J', String.raw`safe\u{202e}\u{1b}[2J`],
  ['', 'an error without a message'],
])('an uncaught error with the message %j is one line', (message, shown) => {
  expect(uncaughtErrorText('tool', new Error(message), 'See the log.')).toBe(
    `tool: An unexpected error has ended the program: ${shown}. See the log.`,
  );
});
