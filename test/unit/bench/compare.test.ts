import { describe, expect, test } from '@jest/globals';
import type { Figure } from '../../bench/benchmark.ts';
import { compare } from '../../bench/compare.ts';
import { comparison, summary } from '../../bench/report.ts';

const start: Figure = { name: 'start', value: 100, unit: 'ms' };
const rate: Figure = { name: 'rate', value: 1000, unit: 'events/s' };
const ratio: Figure = { name: 'ratio', value: 1, unit: 'ratio', aim: { at: 'most', value: 1.3 } };

const section = (...figures: Figure[]) => ({ id: 'start', title: 'start of the server', figures });
const compared = (before: Figure, now: Figure) => compare([section(before)], [section(now)])[0]?.figures[0];
const verdict = (before: Figure, value: number) => compared(before, { ...before, value })?.verdict;

describe('the comparison of two benchmark runs', () => {
  test('a longer time is worse, a shorter time is better, and a small difference is noise', () => {
    expect(compared(start, { ...start, value: 150 })).toMatchObject({
      old: 100,
      change: 0.5,
      verdict: 'worse',
    });
    expect(verdict(start, 60)).toBe('better');
    expect(verdict(start, 120)).toBe('same');
    expect(verdict({ ...start, value: 0.1 }, 0.3)).toBe('same');
  });

  test('a lower rate is worse', () => {
    expect(verdict(rate, 500)).toBe('worse');
    expect(verdict(rate, 2000)).toBe('better');
  });

  test('for a ratio, the aim says which direction is better', () => {
    expect(verdict(ratio, 1.5)).toBe('worse');
    expect(verdict({ ...ratio, aim: { at: 'least', value: 0.5 } }, 1.5)).toBe('better');
    expect(verdict({ name: 'ratio', value: 1, unit: 'ratio' }, 1.5)).toBe('changed');
  });

  test('every difference of a count is significant', () => {
    expect(verdict({ name: 'listeners', value: 0, unit: 'count' }, 1)).toBe('worse');
  });

  test('if the two ranges overlap, the difference counts as noise', () => {
    const wide: Figure = { ...start, spread: [60, 200] };
    expect(compared(wide, { ...start, value: 190, spread: [180, 300] })?.verdict).toBe('same');
    expect(compared(wide, { ...start, value: 290, spread: [210, 300] })?.verdict).toBe('worse');
  });

  test('a figure that the earlier run does not have is new, and has no change', () => {
    const [found] = compare([], [section(start)]);
    expect(found?.figures).toEqual([{ figure: start, old: undefined, change: undefined, verdict: 'new' }]);
  });

  test('the report has the old value, the new value and the change, marks each verdict, and names the figures that became worse', () => {
    const sections = compare(
      [section(start, ratio)],
      [section({ ...start, value: 150 }, { ...ratio, value: 0.5 }, rate)],
    );
    expect(sections.map(comparison).join('')).toBe(
      [
        'start of the server',
        '               old            new  change',
        '  start  100.00 ms      150.00 ms   +50 %  ✗ worse',
        '  ratio       1.00           0.50   -50 %  ✓ better',
        '  rate              1000 events/s          new',
        '',
      ].join('\n'),
    );
    expect(summary(sections)).toBe('3 figures: 1 worse (start), 1 better\n');
  });
});
