import { describe, expect, it } from '@jest/globals';
import { wrapIndented, wrapWideLines, wrapWords } from '../../../../../bridge/cli/terminal/wrap-words.ts';

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

  it('D5 a row that fits stays as it is, also with colours and characters that are longer than they are wide', () => {
    const row = `\u{1b}[1m│ ${'é'.normalize('NFD').repeat(30)} \u{1b}[0m${'x'.repeat(11)}`;
    expect(wrapWideLines(`${row}\n${'word '.repeat(10).trim()}`, 44).split('\n')).toEqual([
      row,
      'word word word word word word word word word',
      'word',
    ]);
    expect(wrapWideLines('word '.repeat(10), undefined)).toBe('word '.repeat(10));
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
