import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  cutMiddle,
  MiddleCutText,
  collapsedLine,
  ellipsize,
} from '../../../../shared/text/shortened-text.ts';

describe('MiddleCutText, a text with a maximum length', () => {
  it('MiddleCutText keeps a text that fits, and both ends of a longer text', () => {
    expect(cutMiddle('0123456789', 10)).toBe('0123456789');
    expect(cutMiddle('0123456789x', 10)).toBe('01234\n[… 1 characters left out …]\n6789x');
  });

  it('MiddleCutText keeps the same text for every split into pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 30 }), { maxLength: 40 }),
        fc.integer({ min: 2, max: 60 }),
        (pieces, limit) => {
          const kept = new MiddleCutText(limit);
          for (const piece of pieces) kept.push(piece);
          const whole = pieces.join('');
          expect(kept.length).toBe(whole.length);
          expect(kept.toString()).toBe(cutMiddle(whole, limit));
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

describe('collapsedLine, which makes one line', () => {
  it('collapsedLine makes one line of a text, and then shortens the line', () => {
    expect(collapsedLine('  a \n\t b  ', 3)).toBe('a b');
    expect(collapsedLine('a\nbcd', 4)).toBe('a b…');
  });
});
