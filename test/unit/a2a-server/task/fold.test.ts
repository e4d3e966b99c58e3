import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { firstSnapshot, fold, foldAll, foldEntries } from '../../../../a2a-server/task/fold.ts';
import type { JournalEntry, TaskEvent } from '../../../../a2a-server/task/events.ts';
import type { Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { completed, created, message, working } from '../../../support/journal-samples.ts';

const turns = fc.integer({ min: 1, max: 3 });

/** Mostly text events, of open turns and of other turns. */
const event: fc.Arbitrary<TaskEvent> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('text.delta' as const),
      turn: turns,
      text: fc.string({ maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('turn.started' as const),
      turn: turns,
      model: fc.constant('m'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('turn.abandoned' as const),
      turn: turns,
      reason: fc.constant('cut'),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(working, message('more'), completed) },
);

const life: fc.Arbitrary<JournalEntry[]> = fc.array(event, { maxLength: 40 }).map((events) =>
  [created('session'), message('do it'), ...events].map((each, index) => ({
    seq: index + 1,
    at: 1_000 + index,
    event: each,
  })),
);

function oneByOne(entries: readonly JournalEntry[]): Snapshot | undefined {
  const [first, ...rest] = entries;
  const start = first && firstSnapshot('t', first);
  return start && rest.reduce(fold, start);
}

describe('foldOn', () => {
  it('J2 gives the same as folding each entry alone', () => {
    fc.assert(fc.property(life, (entries) => expect(foldAll('t', entries)).toEqual(oneByOne(entries))));
  });

  it('J2 gives the same for every split of the entries', () => {
    fc.assert(
      fc.property(life, fc.nat(40), (entries, at) => {
        const start = foldAll('t', entries.slice(0, at + 1));
        expect(start && foldEntries(start, entries.slice(at + 1))).toEqual(oneByOne(entries));
      }),
    );
  });

  it('does not change the first snapshot', () => {
    fc.assert(
      fc.property(life, (entries) => {
        const start = foldAll('t', entries);
        const copy = structuredClone(start);
        if (start) foldEntries(start, entries);
        expect(start).toEqual(copy);
        expect(oneByOne(entries)).toEqual(foldAll('t', entries));
      }),
    );
  });

  it('gives undefined without a first entry', () => {
    expect(foldAll('t', [])).toBeUndefined();
    expect(foldAll('t', [{ seq: 1, at: 1, event: working }])).toBeUndefined();
  });
});
