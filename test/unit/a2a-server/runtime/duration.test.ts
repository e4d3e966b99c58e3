import { expect, it } from '@jest/globals';
import { durationSchema } from '../../../../a2a-server/runtime/duration.ts';

it.each([
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['12h', 43_200_000],
  ['7d', 604_800_000],
  ['36500d', 3_153_600_000_000],
  ['never', null],
])('the duration %j is accepted', (written, ms) => {
  expect(durationSchema.parse(written)).toBe(ms);
});

it.each([
  '',
  '7',
  '7 d',
  '-7d',
  '1.5h',
  '7w',
  '36501d',
  '9999999999d',
  '1e3s',
  'NEVER',
  '0',
  '0d',
  0,
  7,
  null,
])('the duration %j is refused', (written) => {
  expect(durationSchema.safeParse(written).success).toBe(false);
});
