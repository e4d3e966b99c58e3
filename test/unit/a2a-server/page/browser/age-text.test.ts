import { expect, it } from '@jest/globals';
import { roundedDurationText } from '../../../../../a2a-server/page/browser/age-text.ts';

const MINUTE = 60_000;

it.each([
  [-5_000, 'less than 1 min'],
  [59_999, 'less than 1 min'],
  [MINUTE, '1 min'],
  [59 * MINUTE, '59 min'],
  [60 * MINUTE, '1 h'],
  [24 * 60 * MINUTE, '1 day'],
  [400 * 24 * 60 * MINUTE, '400 days'],
])('%i ms is "%s" in the list', (ms, text) => {
  expect(roundedDurationText(ms)).toBe(text);
});
