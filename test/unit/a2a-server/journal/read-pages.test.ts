import { expect, it } from '@jest/globals';
import { readEntryPages } from '../../../../a2a-server/journal/read-pages.ts';
import type { JournalEntry } from '../../../../a2a-server/task/events.ts';
import { delta } from '../../../support/journal-samples.ts';
import { countLoopTurns } from '../../../support/loop-turns.ts';

it('X3 other work runs between two pages, even if the journal answers at once', async () => {
  const entries = Array.from({ length: 3_500 }, (_, index): JournalEntry => ({
    seq: index + 1,
    at: 0,
    event: delta('x'),
  }));
  const read = (_: string, after: number, limit: number) =>
    Promise.resolve(entries.slice(after, after + limit));
  const seen: JournalEntry[] = [];
  const turns = await countLoopTurns(async () => {
    for await (const page of readEntryPages({ read }, 'a')) seen.push(...page);
  });
  expect(seen).toEqual(entries);
  expect(turns).toBeGreaterThanOrEqual(3);
});
