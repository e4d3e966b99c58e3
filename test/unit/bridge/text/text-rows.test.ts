import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { wordRows } from '../../../../bridge/text/text-rows.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

describe('wordRows, the rows of a text of the program', () => {
  test.each([
    ['one two three', 8, ['one two', '↳ three']],
    ['one two', 7, ['one two']],
    ['one two', 3, ['one', '↳ t', '↳ w', '↳ o']],
    ['abcdefghij kl', 6, ['abcdef', '↳ ghij', '↳ kl']],
    ['計画 計画 計画', 9, ['計画 計画', '↳ 計画']],
    ['', 5, ['']],
  ])('%j in %i columns', (line, columns, rows) => {
    expect([...wordRows(line, columns)]).toEqual(rows);
  });

  test('no row is too wide, and together the rows have every character except spaces', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '計', ' ', ' ', 'é'), maxLength: 60 });
    fc.assert(
      fc.property(word, fc.integer({ min: 4, max: 20 }), (line, columns) => {
        const rows = [...wordRows(line, columns)];
        for (const row of rows) expect(stringWidth(row)).toBeLessThanOrEqual(columns);
        const text = rows.map((row, at) => (at === 0 ? row : row.slice(2))).join('');
        expect(text.replaceAll(' ', '')).toBe(line.replaceAll(' ', ''));
      }),
      { numRuns: numberOfRuns(500) },
    );
  });

  test('a row ends only where the next word does not fit, if each word fits in a row', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '計', 'é'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(word), fc.integer({ min: 18, max: 40 }), (words, columns) => {
        const rows = [...wordRows(words.join(' '), columns)];
        for (const [at, row] of rows.slice(0, -1).entries()) {
          const [next = ''] = (rows[at + 1] ?? '').slice(2).split(' ');
          expect(stringWidth(`${row} ${next}`)).toBeGreaterThan(columns);
        }
      }),
      { numRuns: numberOfRuns(500) },
    );
  });
});
