import { describe, expect, it } from '@jest/globals';
import { countWithNoun, oneLineExcerpt } from '../../../../shared/text/one-line.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';

describe('oneLineExcerpt, which puts a text on one line', () => {
  it('shows each line break as one visible character', () => {
    expect(oneLineExcerpt('a\nb\r\nc\rd\u2028e\u2029f\u0085g\vh\fi')).toBe('a↵b↵c↵d↵e↵f↵g↵h↵i');
    expect(oneLineExcerpt('naïve 👩‍👩‍👧')).toBe('naïve 👩‍👩‍👧');
  });

  it('leaves hidden characters to the program that shows the line, which escapes each of them once', () => {
    const title = `Run \`${oneLineExcerpt('echo safe\u202Etxt.exe\n\u001b[2J')}\``;
    expect(visibleLine(title)).toBe('Run `echo safe\\u{202e}txt.exe↵\\u{1b}[2J`');
  });

  it('oneLineExcerpt cuts a long text between two characters', () => {
    expect(oneLineExcerpt('abcdef', 4)).toBe('abc…');
    expect(oneLineExcerpt('ab🎉cd', 4)).toBe('ab…');
    expect(oneLineExcerpt('abcd', 4)).toBe('abcd');
  });

  it('the count of a noun has the plural s', () => {
    expect([countWithNoun(1, 'line'), countWithNoun(0, 'line'), countWithNoun(2, 'line')]).toEqual([
      '1 line',
      '0 lines',
      '2 lines',
    ]);
  });
});
