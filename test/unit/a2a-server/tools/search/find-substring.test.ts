import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSubstringFinder } from '../../../../../a2a-server/tools/search/find-substring.ts';
import { numberOfRuns } from '../../../../support/property-runs.ts';

describe('textFinder, which searches a text', () => {
  it('textFinder finds the same index as indexOf', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 60 });
    const passage = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(text, passage, fc.nat(60), (content, looked, from) => {
        expect(createSubstringFinder(looked)(content, from)).toBe(content.indexOf(looked, from));
      }),
      { numRuns: numberOfRuns(5000) },
    );
    expect(createSubstringFinder('🎉b')('a🎉🎉b')).toBe(3);
  });

  it('X3 createSubstringFinder is not slower on a hostile text', () => {
    // For this pair, indexOf needs more than three minutes.
    const half = 'a'.repeat(500_000);
    expect(createSubstringFinder(`${half}b${half}`)('a'.repeat(2_000_000))).toBe(-1);
  });
});
