import { describe, expect, it } from '@jest/globals';
import { countWithNoun, oneLine } from '../../../../shared/text/one-line.ts';

describe('oneLine, which makes a text safe for one line', () => {
  it('oneLine shows characters that can break or disguise a line as codes', () => {
    expect(oneLine('a\nb\tc\u001b[31m')).toBe('a⏎b\\u{9}c\\u{1b}[31m');
    expect(oneLine('safe\u202Etxt.exe')).toBe('safe\\u{202e}txt.exe');
    expect(oneLine('naïve 👩‍👩‍👧')).toBe('naïve 👩‍👩‍👧');
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
