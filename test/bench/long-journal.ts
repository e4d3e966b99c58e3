/** Measures a task of 100,000 events: its size on disk and the time to read it, before and after it is packed. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Journal } from '../../a2a-server/journal/journal.ts';
import { openSqlite } from '../../shared/sqlite/driver.ts';
import { openSqliteJournal } from '../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { beginning, completed, continuing, delta, working } from '../support/journal-samples.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { median, medianOf } from './statistics.ts';

const EVENTS = 100_000;
const PER_APPEND = 5;
/** The page size of a reader. */
const PAGE = 256;
const PER_STEP = 512;
const ROUNDS = 101;
const TASK = 'long';
const WORDS = ['The', ' quick', ' brown', ' fox', ' jumps', ' over', ' the', ' lazy', ' dog', '.\n'];

export const longJournal: Benchmark = {
  id: 'long-journal',
  title: `a task of ${EVENTS} events, as it was written and once it is packed`,
  async run(context) {
    const path = join(await mkdtemp(join(context.directory, 'long-')), 'journal.db');
    const journal = await openSqliteJournal({ path, clock: Date.now });
    try {
      const end = await write(journal);
      const written = await measure(journal, path, end);
      const steps: number[] = [];
      for (let looked = 1; looked > 0;) {
        const started = performance.now();
        looked = await journal.maintain(PER_STEP);
        steps.push(performance.now() - started);
      }
      const packed = await measure(journal, path, end);
      return [
        ratio('size, packed to written', packed.mb / written.mb, { at: 'most', value: 0.5 }),
        ratio('reading all of it, packed to written', packed.all / written.all, { at: 'most', value: 1 }),
        ratio('a page at the end to one at the beginning, packed', packed.end / packed.beginning),
        ratio('a page at the end to one at the beginning, written', written.end / written.beginning),
        { name: 'size as written', value: written.mb, unit: 'MB' },
        { name: 'size packed', value: packed.mb, unit: 'MB' },
        { name: 'a page at the end, packed, median', value: packed.end, unit: 'ms' },
        { name: `packing ${PER_STEP} events, median`, ...medianOf(steps), unit: 'ms' },
      ];
    } finally {
      await journal.close();
    }
  },
};

function ratio(name: string, value: number, aim?: NonNullable<Figure['aim']>): Figure {
  return { name, value, unit: 'ratio', ...(aim && { aim }) };
}

/** Appends the events of the task. @returns the `seq` of the last event */
async function write(journal: Journal): Promise<number> {
  await journal.append(beginning(TASK, { events: [working] }));
  let seq = 2;
  while (seq < EVENTS) {
    const from = seq;
    const events = Array.from({ length: PER_APPEND }, (_, i) =>
      delta(WORDS[(from + i) % WORDS.length] ?? ''),
    );
    await journal.append(continuing(TASK, seq, events, 'working'));
    seq += PER_APPEND;
  }
  await journal.append(continuing(TASK, seq, [completed]));
  return seq + 1;
}

/** @returns the time to read all pages and the times to read single pages, in milliseconds */
async function measure(journal: Journal, path: string, end: number) {
  const all = await took(async () => {
    for (let after = 0; after < end; after += PAGE) await journal.read(TASK, after, PAGE);
  });
  const page = async (after: number): Promise<number> => {
    const times: number[] = [];
    while (times.length < ROUNDS) times.push(await took(() => journal.read(TASK, after, PAGE)));
    return median(times);
  };
  return { all, beginning: await page(PAGE), end: await page(end - 2 * PAGE), mb: usedMb(path) };
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** @returns the size of the pages that hold data, in megabytes; free pages do not count */
function usedMb(path: string): number {
  const database = openSqlite(path, { busyTimeoutMs: 5_000 });
  const ask = (what: string): number => Number(database.query(`PRAGMA ${what}`)()[0]?.[0]);
  const used = (ask('page_count') - ask('freelist_count')) * ask('page_size');
  database.close();
  return used / 2 ** 20;
}
