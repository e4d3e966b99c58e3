import { describe, expect, it, jest } from '@jest/globals';
import { readCommandLine } from './command-line.ts';

/** @returns the text that invalid options print to stderr */
function refusal(...args: string[]): string {
  const said = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    expect(() => readCommandLine(args)).toThrow();
    return said.mock.calls.map(([text]) => text).join('');
  } finally {
    said.mockRestore();
  }
}

describe('the command line of the fault harness', () => {
  it('the harness uses the given seed, and otherwise a new one', () => {
    expect(readCommandLine(['--seed', '0', '--only', 'kills,proxy'])).toMatchObject({
      seed: 0,
      rounds: 4,
      only: ['kills', 'proxy'],
    });
    expect(readCommandLine([]).seed).toBeGreaterThanOrEqual(0);
  });

  it.each(['--rounds', '--minutes', '--lanes', '--from'])(
    'the harness refuses 0 for %s, because a run that does nothing would pass',
    (option) => {
      expect(refusal(option, '0')).toContain('It must be at least 1.');
    },
  );
});
