import { describe, expect, it } from '@jest/globals';
import { wrapIndented, wrapSentences, wrapWords } from '../../../../../bridge/cli/terminal/rows.ts';

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

  it('D5 a row that continues a sentence is marked; no command and no word is split; colours fill no column', () => {
    const command = 'mcp-a2a-bridge watch session-9d41c07e';
    expect(
      wrapSentences(`The task \u{1b}[1mwaits\u{1b}[22m. Follow it with: ${command}`, 40).split('\n'),
    ).toEqual(['The task \u{1b}[1mwaits\u{1b}[22m. Follow it with:', `↳ ${command}`]);
    expect(wrapSentences(`No server. "${command}" starts one (or not)`, 44)).toBe(
      `No server.\n↳ "${command}"\n↳ starts one (or not)`,
    );
    expect(wrapSentences(`Decide with: ${command} (or deny, edit)`, 40)).toBe(
      `Decide with:\n↳ ${command}\n↳ (or deny, edit)`,
    );
    expect(wrapSentences(`Session ${'x'.repeat(50)} with local`, 40)).toBe(
      `Session\n↳ ${'x'.repeat(50)}\n↳ with local`,
    );
    expect(wrapSentences(`There are:\n  ${'x'.repeat(50)} two`, 40)).toBe(
      `There are:\n  ${'x'.repeat(50)}\n↳ two`,
    );
    expect(wrapSentences('word '.repeat(20), undefined)).toBe('word '.repeat(20));
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
    expect(wrapIndented('two words', '  ', 8)).toBe('two\n  words');
  });
});
