import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LineSplitter } from '../../../../shared/net/line-splitter.ts';

function readAll(lines: LineSplitter, bytes: Buffer, size: number) {
  const read: string[] = [];
  let tooLong = 0;
  for (let from = 0; from < bytes.length; from += size) {
    const piece = lines.push(bytes.subarray(from, from + size));
    read.push(...piece.lines);
    tooLong += piece.tooLong;
  }
  return { read, tooLong };
}

describe('the split of bytes into lines', () => {
  it('the lines are complete for every split of the bytes', () => {
    const line = fc
      .string({ unit: 'grapheme', maxLength: 20 })
      .map((text) => text.replaceAll(/[\r\n]/g, '·'));
    fc.assert(
      fc.property(fc.array(line), fc.integer({ min: 1, max: 9 }), (written, size) => {
        const bytes = Buffer.from(written.map((each, n) => each + (n % 2 ? '\n' : '\r\n')).join(''));
        expect(readAll(new LineSplitter(1000), bytes, size)).toEqual({ read: written, tooLong: 0 });
      }),
    );
  });

  it('X3 lines that are too long are dropped, and the lines before and after them are kept', () => {
    for (const size of [1, 3, 1000]) {
      const bytes = Buffer.from(
        `first\n${'x'.repeat(100)}\nsecond\n${'y'.repeat(11)}\n${'z'.repeat(10)}\nre`,
      );
      const lines = new LineSplitter(10);
      expect(readAll(lines, bytes, size)).toEqual({ read: ['first', 'second', 'z'.repeat(10)], tooLong: 2 });
    }
  });
});
