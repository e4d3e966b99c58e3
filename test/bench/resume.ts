/**
 * Measures a reader that reconnects with a cursor near the end of a task, for tasks of 100,000 and of 1,000 events:
 * on a server that has just started, and on a server that has read the task before.
 */
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { openSqliteJournal } from '../../a2a-server/journal/sqlite/sqlite-journal.ts';
import type { Journal } from '../../a2a-server/journal/journal.ts';
import { LAST_EVENT_ID_HEADER } from '../../shared/protocol/resumable-stream-extension.ts';
import { beginning, completed, continuing, delta, working } from '../support/journal-samples.ts';
import { startAgent } from './agent.ts';
import type { Agent } from './agent.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { streamOf } from './stamped-stream.ts';
import { median } from './statistics.ts';

const SHORT = 1_000;
const LONG = 100_000;
const PER_APPEND = 1_000;
/** The number of events that the reader has missed. */
const MISSED = 10;
const COLD_ROUNDS = 7;
const WARM_ROUNDS = 101;
/** The maximum ratio of long to short task. The cost must not grow with the task's length; the margin covers noise. */
const FLAT_AIM = 1.5;

export const resume: Benchmark = {
  id: 'resume',
  title: `resuming at the end of a task of ${LONG} events, against one of ${SHORT}`,
  async run(context) {
    const prepared = await startAgent(context);
    await prepared.program.stop();
    const { stateDirectory } = prepared;
    const journal = await openSqliteJournal({ path: join(stateDirectory, 'journal.db'), clock: Date.now });
    try {
      for (const events of [MISSED * 2, SHORT, LONG]) await write(journal, events);
    } finally {
      await journal.close();
    }
    const cold: Pair[] = [];
    const warm: Pair[] = [];
    for (let round = 0; round < COLD_ROUNDS; round += 1) {
      const agent = await startAgent(context, { state: stateDirectory });
      try {
        // The first requests read another task. So Node has compiled the code before it reads the two measured tasks.
        for (let n = 0; n < 20; n += 1) await resumed(agent, MISSED * 2);
        const first = { short: await resumed(agent, SHORT), long: await resumed(agent, LONG) };
        cold.push(first);
        while (warm.length < (WARM_ROUNDS * (round + 1)) / COLD_ROUNDS)
          warm.push({ short: await resumed(agent, SHORT), long: await resumed(agent, LONG) });
      } finally {
        await agent.program.stop();
      }
    }
    return [...figures('known to the server', warm), ...figures('after a restart', cold)];
  },
};

/** The times for the short and for the long task, in milliseconds. */
interface Pair {
  short: number;
  long: number;
}

function figures(when: string, pairs: readonly Pair[]): Figure[] {
  const short = median(pairs.map((pair) => pair.short));
  const long = median(pairs.map((pair) => pair.long));
  return [
    {
      name: `${when}: long to short`,
      value: long / short,
      unit: 'ratio',
      aim: { at: 'most', value: FLAT_AIM },
    },
    { name: `${when}: ${LONG} events, median`, value: long, unit: 'ms' },
    { name: `${when}: ${SHORT} events, median`, value: short, unit: 'ms' },
  ];
}

const taskOf = (events: number): string => `task-of-${events}`;

async function write(journal: Journal, events: number): Promise<void> {
  const taskId = taskOf(events);
  await journal.append(beginning(taskId, { principal: 'local', events: [working] }));
  for (let seq = 2; seq < events - 1;) {
    const count = Math.min(PER_APPEND, events - 1 - seq);
    const some = Array.from({ length: count }, () => delta('a few words of an answer '));
    await journal.append(continuing(taskId, seq, some, 'working'));
    seq += count;
  }
  await journal.append(continuing(taskId, events - 1, [completed]));
}

/** @returns the time from the request to the end of the stream, in milliseconds */
async function resumed(agent: Agent, events: number): Promise<number> {
  const began = performance.now();
  const path = `/tasks/${taskOf(events)}:subscribe`;
  const headers = { [LAST_EVENT_ID_HEADER]: String(events - MISSED) };
  const body = await buffer(await streamOf(agent, { path, headers }));
  const took = performance.now() - began;
  const frames = body.toString().split('\n\n').length - 1;
  if (frames !== MISSED) throw new Error(`${frames} events came instead of ${MISSED}`);
  return took;
}
