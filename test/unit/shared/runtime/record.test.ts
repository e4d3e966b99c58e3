import { describe, expect, it } from '@jest/globals';
import { fieldOf, isRecord } from '../../../../shared/runtime/record.ts';

describe('a value of unknown type', () => {
  it.each([
    [{}, true],
    [new Error('x'), true],
    [[], false],
    [null, false],
    ['text', false],
    [undefined, false],
  ])('a value is a record only if it is an object and not an array: %p', (value, expected) => {
    expect(isRecord(value)).toBe(expected);
  });

  it('fieldOf returns the field of a record, and undefined for a missing field', () => {
    expect(fieldOf(new Error('x', { cause: 7 }), 'cause')).toBe(7);
    expect(fieldOf({}, 'cause')).toBeUndefined();
    expect(fieldOf('text', 'length')).toBeUndefined();
    expect(fieldOf(null, 'cause')).toBeUndefined();
  });
});
