import { expect, it } from '@jest/globals';
import { readNumberOption } from '../../../../../bridge/cli/terminal/option-value.ts';
import { UsageError } from '../../../../../bridge/cli/terminal/exit-codes.ts';

const limits = { min: 0, max: 500 };

it.each([
  ['0', 0],
  ['500', 500],
  ['007', 7],
])('"%s" is the number %s', (given, number) =>
  expect(readNumberOption('--lines', given, limits)).toBe(number),
);

it.each(['', ' ', '-1', '1e2', '0x10', '1.5', '501', 'ten', '9'.repeat(400)])(
  '"%s" is a usage error',
  (given) => {
    expect(() => readNumberOption('--lines', given, limits)).toThrow(UsageError);
    expect(() => readNumberOption('--lines', given, limits)).toThrow(
      '--lines needs a whole number from 0 to 500.',
    );
  },
);
