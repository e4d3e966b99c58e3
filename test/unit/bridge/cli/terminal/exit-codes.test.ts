import { describe, expect, it } from '@jest/globals';
import { EXIT_MEANINGS, exitCodeOf, UsageError } from '../../../../../bridge/cli/terminal/exit-codes.ts';
import { ProductError, type ErrorReason } from '../../../../../shared/runtime/errors.ts';

describe('the exit code of a command', () => {
  it.each<[ErrorReason, number]>([
    ['UNKNOWN_SESSION', 3],
    ['ALREADY_DECIDED', 4],
    ['INPUT_CHANGED', 4],
    ['INVALID_CURSOR', 2],
    ['AGENT_UNREACHABLE', 69],
    ['UNAUTHENTICATED', 77],
    ['CONFIGURATION', 78],
    ['STORAGE', 1],
  ])('the exit code of %s is %s', (reason, code) =>
    expect(exitCodeOf(new ProductError(reason, ''))).toBe(code),
  );

  it('an unexpected error gives exit code 1, and an invalid command line 2', () => {
    expect(exitCodeOf(new TypeError('x'))).toBe(1);
    expect(exitCodeOf('x')).toBe(1);
    expect(exitCodeOf(new UsageError('x'))).toBe(2);
  });

  it('each exit code has one meaning', () => {
    const codes = EXIT_MEANINGS.map(([code]) => code);
    expect(new Set(codes).size).toBe(codes.length);
  });
});
