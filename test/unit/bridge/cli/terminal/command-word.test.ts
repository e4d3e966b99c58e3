import { expect, it } from '@jest/globals';
import { commandWord } from '../../../../../bridge/cli/terminal/command-word.ts';

it.each([
  ['session-b615d150-191a-497b-83b6-3172b179d62f', 'session-b615d150-191a-497b-83b6-3172b179d62f'],
  ['3f9ac2d1', '3f9ac2d1'],
  ['x; touch /tmp/y', "'x; touch /tmp/y'"],
  ['https://a.example/x', 'https://a.example/x'],
  ["it's $(x)", String.raw`'it'\''s $(x)'`],
  ['', "''"],
  ['a\nb', "'a⏎b'"],
  ['a\u{1b}[2J', String.raw`'a\u{1b}[2J'`],
])('the word %j of a command line is %s', (id, word) => expect(commandWord(id)).toBe(word));
