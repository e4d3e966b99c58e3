import { describe, expect, test } from '@jest/globals';
import { reportText } from './report.ts';
import type { JobResult } from './run-job.ts';

const DONE: JobResult = {
  id: 'first-file',
  state: 'completed',
  wrong: [],
  decisions: 1,
  turns: 2,
  calls: 1,
  inputTokens: 900,
  outputTokens: 100,
  usd: 0.0123,
  durationMs: 90_000,
};
const NOT_DONE: JobResult = {
  ...DONE,
  id: 'csv',
  wrong: ['there is no a.csv', 'the agent did not say 7'],
  decisions: 0,
  calls: 12,
  durationMs: 8_900,
};

describe('the report of the jobs', () => {
  test('the report has a line for each job, with its cost and minutes, then the sums and the failed checks', () => {
    expect(reportText('ollama:qwen3', [DONE, NOT_DONE])).toBe(
      [
        'job                   asked  turns  calls  tokens     US$  minutes',
        'first-file  done          1      2      1    1000  0.0123      1.5',
        'csv         not done      0      2     12    1000  0.0123      0.1',
        'all                       1      4     13    2000  0.0246      1.6',
        '',
        'ollama:qwen3 did 1 of 2 jobs:',
        '  csv: there is no a.csv',
        '  csv: the agent did not say 7',
        '',
      ].join('\n'),
    );
  });

  test('the report has no cost for a job without a price, and then none for all jobs', () => {
    const lines = reportText('ollama:qwen3', [DONE, { ...DONE, id: 'second', usd: null }]).split('\n');
    expect(lines[1]).toMatch(/ 0\.0123 /);
    expect(lines[2]).toMatch(/ 1000 +\? +1\.5$/);
    expect(lines[3]).toMatch(/^all .* 2000 +\? +3\.0$/);
    expect(lines.at(-2)).toBe('ollama:qwen3 did 2 of 2 jobs.');
  });
});
