/** Measures how soon a server knows of another server's append. Both servers are journals in this process, without HTTP. */
import { openPostgresJournal } from '../../a2a-server/journal/postgres/postgres-journal.ts';
import { Deferred } from '../../shared/runtime/deferred.ts';
import { beginning, continuing, delta } from '../support/journal-samples.ts';
import type { Figure } from './benchmark.ts';
import { medianOf, quantileOf } from './statistics.ts';

const SAMPLES = 300;
/** The first samples are discarded, because Node still compiles code. */
const WARM_UP = 30;
const AIM_MS = 15;

export async function measureWakeUps(url: string): Promise<Figure[]> {
  const times = (await wakeUps(url)).slice(WARM_UP);
  return [
    { name: 'wake-up, median', ...medianOf(times), unit: 'ms', aim: { at: 'most', value: AIM_MS } },
    { name: 'wake-up, p99', ...quantileOf(times, 0.99), unit: 'ms' },
  ];
}

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
