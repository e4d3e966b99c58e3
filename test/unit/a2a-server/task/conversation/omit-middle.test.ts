import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { omitMiddle, omitMiddleBytes } from '../../../../../a2a-server/task/conversation/omit-middle.ts';

const NOTE = /\n\[… \d+ characters left out …\]\n/;

describe('a text that is shortened', () => {
  it.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcd\n[… 1 characters left out …]\nfg'],
    ['abcdefghij', 3, 'ab\n[… 7 characters left out …]\nj'],
    ['abc', 1, 'a\n[… 2 characters left out …]\n'],
  ])('the shortened text keeps the first and last part of %j in %d characters', (text, chars, expected) => {
    expect(omitMiddle(text, chars)).toBe(expected);
  });

  it('the shortened text has at most the requested bytes beside the note, and no half character', () => {
    const unit = fc.constantFrom('a', 'é', '猫', '🦉');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 300 }), fc.nat(400), (text, bytes) => {
        const shown = omitMiddleBytes(text, bytes);
        expect(Buffer.byteLength(shown.replace(NOTE, ''))).toBeLessThanOrEqual(bytes);
        expect(Buffer.from(shown).toString()).toBe(shown);
        expect(shown === text).toBe(Buffer.byteLength(text) <= bytes);
      }),
    );
    expect(omitMiddleBytes('猫'.repeat(100), 30)).toMatch(/^猫{7}\n.*\n猫{3}$/);
    expect(omitMiddle('🦉🦉🦉', 3)).toBe('🦉\n[… 3 characters left out …]\n');
  });
});
