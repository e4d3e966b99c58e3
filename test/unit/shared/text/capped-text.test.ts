import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { capText, CappedText, cappedOneLine, ellipsize } from '../../../../shared/text/capped-text.ts';

describe('CappedText, a text with a maximum length', () => {
  it('CappedText keeps a text that fits, and both ends of a longer text', () => {
    expect(capText('0123456789', 10)).toBe('0123456789');
    expect(capText('0123456789x', 10)).toBe('01234\n[… 1 characters left out …]\n6789x');
  });

  it('CappedText keeps the same text for every split into pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 30 }), { maxLength: 40 }),
        fc.integer({ min: 2, max: 60 }),
        (pieces, limit) => {
          const kept = new CappedText(limit);
          for (const piece of pieces) kept.push(piece);
          const whole = pieces.join('');
          expect(kept.length).toBe(whole.length);
          expect(kept.toString()).toBe(capText(whole, limit));
          if (whole.length <= limit - 1) expect(kept.toString()).toBe(whole);
        },
      ),
    );
  });
});

describe('ellipsize, which shortens a text', () => {
  it('ellipsize keeps a text that fits, and ends a shortened text with an ellipsis, without half a character', () => {
    expect(ellipsize('abcde', 5)).toBe('abcde');
    expect(ellipsize('abcdef', 5)).toBe('abcd…');
    expect(ellipsize('abc😀f', 5)).toBe('abc…');
  });
});

describe('cappedOneLine, which makes one line', () => {
  it('cappedOneLine makes one line of a text, and then shortens the line', () => {
    expect(cappedOneLine('  a \n\t b  ', 3)).toBe('a b');
    expect(cappedOneLine('a\nbcd', 4)).toBe('a b…');
  });
});
