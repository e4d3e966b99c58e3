import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { displayWidth, graphemesOf } from '../../../../bridge/text/display-width.ts';
import { cpuMsOf } from '../../../support/cpu-time.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const segments = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment);

test('each character has the width that string-width gives it, and is one grapheme', () => {
  const characters = Array.from({ length: 0x3_000 }, (_, code) => String.fromCodePoint(code));
  const widths = characters.map((each) => `${each} ${String(displayWidth(each))}`);
  expect(widths).toEqual(characters.map((each) => `${each} ${String(stringWidth(each))}`));
  expect(characters.map((each) => [...graphemesOf(each)])).toEqual(characters.map((each) => [each]));
});

const UNIT = fc.oneof(
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
    '👍🏽',
    '計',
    '…',
    '→',
    '✓',
    '✅',
    '🇩',
    '🇪',
  ),
);

test('a text has the width that string-width gives it, and the graphemes of Intl.Segmenter', () => {
  fc.assert(
    fc.property(fc.string({ unit: UNIT, maxLength: 12 }), (text) => {
      expect(displayWidth(text)).toBe(stringWidth(text));
      expect([...graphemesOf(text)]).toEqual(segments(text));
    }),
    { numRuns: numberOfRuns(1_000) },
  );
});

test('a long text has the same width and graphemes, wherever its windows end', () => {
  const longText = fc.tuple(fc.string({ unit: UNIT, minLength: 1, maxLength: 12 }), fc.nat({ max: 300 }));
  fc.assert(
    fc.property(fc.array(longText, { minLength: 1, maxLength: 3 }), (parts) => {
      const text = parts.map(([piece, times]) => piece.repeat(times)).join('');
      expect(displayWidth(text)).toBe(stringWidth(text));
      expect([...graphemesOf(text)]).toEqual(segments(text));
    }),
    { numRuns: numberOfRuns(20) },
  );
});

test('colours of a long text fill no column', () => {
  expect(displayWidth(`\x1b[31m${'é計'.repeat(1_000)}\x1b[0m`)).toBe(3_000);
});

// For a text 16 times as long, quadratic work would need 256 times as much time.
test.each(['é計', '\u0301', '👩\u200d'])(
  'X3 the time is proportional to the length of a text: %j',
  (piece) => {
    const timeOf = (length: number): number => {
      const text = piece.repeat(length / piece.length);
      return Math.min(
        ...[1, 2, 3].map(() =>
          cpuMsOf(() => {
            for (const _ of graphemesOf(text));
            displayWidth(text);
          }),
        ),
      );
    };
    timeOf(4_000);
    expect(timeOf(64_000) / timeOf(4_000)).toBeLessThan(50);
  },
);
