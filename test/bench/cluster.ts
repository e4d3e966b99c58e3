/** Measures several servers on one PostgreSQL. Both servers are journals in this process, without HTTP. */
import { openPostgresJournal } from '../../a2a-server/journal/postgres/postgres-journal.ts';
import { Deferred } from '../../shared/client/core/deferred.ts';
import { beginning, continuing, delta } from '../support/journal-samples.ts';
import { startPostgres, whyNoPostgres } from '../support/postgres-server.ts';
import type { Benchmark } from './benchmark.ts';
import { medianOf, quantileOf } from './statistics.ts';

const SAMPLES = 300;
/** The first samples are discarded, because Node still compiles code. */
const WARM_UP = 30;
const WAKE_UP_AIM_MS = 15;

/** PostgreSQL waits for the disk at each commit. */
export const cluster: Benchmark = {
  id: 'cluster',
  title: 'from the answer to an append on one server to its entry on another, on one PostgreSQL',
  async run({ note }) {
    if (whyNoPostgres !== undefined) {
      note(whyNoPostgres);
      return [];
    }
    const server = await startPostgres('fsync=on');
    try {
      const times = (await wakeUps(await server.createDatabase())).slice(WARM_UP);
      return [
        {
          name: 'wake-up, median',
          ...medianOf(times),
          unit: 'ms',
          aim: { at: 'most', value: WAKE_UP_AIM_MS },
        },
        { name: 'wake-up, p99', ...quantileOf(times, 0.99), unit: 'ms' },
      ];
    } finally {
      await server.dispose();
    }
  },
};

/** Returns the milliseconds from each durable append to the end of the other server's read of its entry. */
async function wakeUps(url: string): Promise<number[]> {
  const writer = await openPostgresJournal({ url, clock: Date.now });
  const reader = await openPostgresJournal({ url, clock: Date.now });
  await writer.append(beginning('task'));
  let woken = new Deferred<void>();
  const stop = reader.watch('task', () => woken.resolve());
  const times: number[] = [];
  // Each append gets a wake-up of its own, because the next one follows only after the read.
  for (let seq = 3; times.length < WARM_UP + SAMPLES; seq += 1) {
    await writer.append(continuing('task', seq - 1, [delta('next')]));
    const appended = performance.now();
    // A wake-up may also come from the first comparison of heads, before the entry.
    do {
      await woken.promise;
      woken = new Deferred();
    } while ((await reader.read('task', seq - 1, 1)).length === 0);
    times.push(performance.now() - appended);
  }
  stop();
  await Promise.all([writer.close(), reader.close()]);
  return times;
}
