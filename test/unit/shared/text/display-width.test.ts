import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { displayWidth, graphemesOf } from '../../../../shared/text/display-width.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const segments = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment);

test('each character has the width that string-width gives it, and is one grapheme', () => {
  const characters = Array.from({ length: 0x3_000 }, (_, code) => String.fromCodePoint(code));
  const widths = characters.map((each) => `${each} ${String(displayWidth(each))}`);
  expect(widths).toEqual(characters.map((each) => `${each} ${String(stringWidth(each))}`));
  expect(characters.map((each) => [...graphemesOf(each)])).toEqual(characters.map((each) => [each]));
});

test('a text has the width that string-width gives it, and the graphemes of Intl.Segmenter', () => {
  const unit = fc.oneof(
    fc.integer({ min: 0x20, max: 0x24f }).map((code) => String.fromCodePoint(code)),
    fc.constantFrom(
      '\r',
      '\n',
      '\u0301',
      '\u200d',
      '\ufe0f',
      '\u20e3',
      '👩',
      '👧',
      '計',
      '…',
      '→',
      '✓',
      '✅',
      '🇩',
      '🇪',
    ),
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      expect(displayWidth(text)).toBe(stringWidth(text));
      expect([...graphemesOf(text)]).toEqual(segments(text));
    }),
    { numRuns: numberOfRuns(1_000) },
  );
});
