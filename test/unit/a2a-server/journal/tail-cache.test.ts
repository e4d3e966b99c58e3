import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JournalTailCache } from '../../../../a2a-server/journal/tail-cache.ts';
import type { JournalEntry } from '../../../../a2a-server/task/events.ts';
import { delta } from '../../../support/journal-samples.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

function entries(first: number, count: number): JournalEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    seq: first + index,
    at: 1,
    event: delta(String(first + index)),
  }));
}

/** The lengths of some entries that have this length together. */
function lengths(count: number, length: number): number[] {
  return Array.from({ length: count }, () => length / count);
}

describe('the cached tail of a watched task’s journal', () => {
  it('J2 S1 the tail returns the journal’s entries or nothing, for all commits and reader positions', () => {
    const step = fc.record({
      count: fc.integer({ min: 1, max: 1_000 }),
      length: fc.integer({ min: 1, max: 2_000_000 }),
    });
    const look = fc.record({
      back: fc.integer({ min: 0, max: 6_000 }),
      limit: fc.integer({ min: 1, max: 300 }),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(step, look), { maxLength: 12 }), (rounds) => {
        const tails = new JournalTailCache();
        let last = 0;
        for (const [{ count, length }, { back, limit }] of rounds) {
          tails.add('t', entries(last + 1, count), lengths(count, length));
          last += count;
          const after = Math.max(0, last - back);
          const found = tails.read('t', after, limit);
          if (found !== undefined) expect(found).toEqual(entries(after + 1, Math.min(limit, last - after)));
        }
      }),
      { numRuns: numberOfRuns(40) },
    );
  });

  it('the tail contains the last commit, and returns no entries to a reader that has read it', () => {
    const tails = new JournalTailCache();
    tails.add('t', entries(5, 3), lengths(3, 100));
    expect(tails.read('t', 4, 10)).toEqual(entries(5, 3));
    expect(tails.read('t', 6, 10)).toEqual(entries(7, 1));
    expect(tails.read('t', 7, 10)).toEqual([]);
  });

  it('the tail does not return entries from before the watch', () => {
    const tails = new JournalTailCache();
    tails.add('t', entries(5, 3), lengths(3, 100));
    expect(tails.read('t', 3, 10)).toBeUndefined();
    expect(tails.read('another', 0, 10)).toBeUndefined();
  });

  it('if a commit is missing, the tail drops its entries and begins with the next commit', () => {
    const tails = new JournalTailCache();
    tails.add('t', entries(1, 3), lengths(3, 100));
    tails.add('t', entries(9, 2), lengths(2, 100));
    expect(tails.read('t', 3, 10)).toBeUndefined();
    expect(tails.read('t', 8, 10)).toEqual(entries(9, 2));
  });

  it.each([
    ['entries', 1_000, 100],
    ['characters', 1, 1024 * 1024],
  ])('S3 the tail stores a limited number of %s', (_what, count, length) => {
    const tails = new JournalTailCache();
    for (let commit = 0; commit < 10; commit += 1)
      tails.add('t', entries(1 + commit * count, count), lengths(count, length));
    expect(tails.read('t', 0, 1)).toBeUndefined();
    expect(tails.read('t', 9 * count, 1)).toEqual(entries(9 * count + 1, 1));
  });

  it('S3 the tail drops a commit that is too large, and everything before it', () => {
    const tails = new JournalTailCache();
    tails.add('t', entries(1, 3), lengths(3, 100));
    tails.add('t', entries(4, 1), lengths(1, 50_000_000));
    expect(tails.read('t', 3, 1)).toBeUndefined();
    expect(tails.size).toBe(0);
  });
});
