import { describe, expect, it } from '@jest/globals';
import { wrapIndented, wrapWords } from '../../../../../bridge/cli/terminal/wrap-words.ts';

describe('text that is wrapped for the terminal', () => {
  it('the text breaks between words, keeps line breaks and long words, and stays unchanged in a pipe', () => {
    const text = `${'word '.repeat(12).trim()}\n  a list\n${'x'.repeat(70)}`;
    expect(wrapWords(text, undefined)).toBe(text);
    expect(wrapWords(text, 44).split('\n')).toEqual([
      'word word word word word word word word word',
      'word word word',
      '  a list',
      'x'.repeat(70),
    ]);
  });
});

describe('text that is indented for the terminal', () => {
  it('the text fits the width, cuts no word, and starts each further line with the indent', () => {
    const text = wrapIndented(`→ Run: ${'word '.repeat(18).trim()}`, '  ', 50);
    expect(text.split('\n')).toEqual([
      '→ Run: word word word word word word word word',
      '  word word word word word word word word word',
      '  word',
    ]);
    expect(wrapIndented('one line', '  ', undefined)).toBe('one line');
  });
});
