import { expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import type { Run } from '../../bench/benchmark.ts';
import { BENCHMARKS } from '../../bench/benchmarks.ts';
import { withFigures } from '../../bench/page.ts';

const run: Run = {
  commit: 'abc1234',
  on: 'Node v20, 2 cores',
  sections: [
    {
      id: 'start',
      title: 'start of the server',
      figures: [{ name: 'start → card', value: 2.5, unit: 'ratio', aim: { at: 'most', value: 3 } }],
    },
  ],
};

test('the figures replace the text between their benchmark’s marks, with commit and machine', () => {
  const page = 'Before.\n\n<!-- bench:start -->\n\nold figures\n\n<!-- /bench:start -->\n\nAfter.\n';
  expect(withFigures(page, run)).toBe(
    [
      'Before.\n\n<!-- bench:start -->\n',
      '| what | reached | aim |',
      '| --- | ---: | ---: |',
      '| start → card | 2.50 | ≤ 3 |',
      '\nCommit abc1234. Node v20, 2 cores.',
      '\n<!-- /bench:start -->\n\nAfter.\n',
    ].join('\n'),
  );
});

test('a page without the marks of a benchmark is an error', () => {
  expect(() => withFigures('no marks', run)).toThrow('<!-- bench:start -->');
});

test('docs/benchmarks.md has marks for each benchmark', async () => {
  const page = await readFile('docs/benchmarks.md', 'utf8');
  const sections = BENCHMARKS.map(({ id, title }) => ({ id, title, figures: [] }));
  expect(() => withFigures(page, { ...run, sections })).not.toThrow();
});
