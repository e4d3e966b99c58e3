import { describe, expect, it, jest } from '@jest/globals';
import { readCommandLine } from './command-line.ts';

/** What is said about options that are refused. */
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
  it('takes a seed, and has one where none is given', () => {
    expect(readCommandLine(['--seed', '0', '--only', 'kills,proxy'])).toMatchObject({
      seed: 0,
      rounds: 4,
      only: ['kills', 'proxy'],
    });
    expect(readCommandLine([]).seed).toBeGreaterThanOrEqual(0);
  });

  it.each(['--rounds', '--minutes', '--lanes', '--from'])(
    'refuses a run of which %s makes nothing: it would hold whatever is broken',
    (option) => {
      expect(refusal(option, '0')).toContain('It is at least 1.');
    },
  );

  it('refuses parts beside another server, which has one part only', () => {
    expect(refusal('--url', 'http://127.0.0.1:9', '--only', 'kills')).toContain('cannot be used with');
  });
});
