import { describe, expect, it } from '@jest/globals';
import { countWithNoun, oneLine } from '../../../../shared/text/one-line.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';

describe('oneLine, which puts a text on one line', () => {
  it('shows each line break as one visible character', () => {
    expect(oneLine('a\nb\r\nc\rd\u2028e\u2029f\u0085g\vh\fi')).toBe('a↵b↵c↵d↵e↵f↵g↵h↵i');
    expect(oneLine('naïve 👩‍👩‍👧')).toBe('naïve 👩‍👩‍👧');
  });

  it('leaves hidden characters to the program that shows the line, which escapes each of them once', () => {
    const title = `Run \`${oneLine('echo safe\u202Etxt.exe\n\u001b[2J')}\``;
    expect(visibleLine(title)).toBe('Run `echo safe\\u{202e}txt.exe↵\\u{1b}[2J`');
  });

  it('oneLine cuts a long text between two characters', () => {
    expect(oneLine('abcdef', 4)).toBe('abc…');
    expect(oneLine('ab🎉cd', 4)).toBe('ab…');
    expect(oneLine('abcd', 4)).toBe('abcd');
  });

  it('the count of a noun has the plural s', () => {
    expect([countWithNoun(1, 'line'), countWithNoun(0, 'line'), countWithNoun(2, 'line')]).toEqual([
      '1 line',
      '0 lines',
      '2 lines',
    ]);
  });
});
