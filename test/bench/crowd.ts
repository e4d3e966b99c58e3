/**
 * Measures many readers at once: one reader for each of many tasks, and many readers of one task. Each reader has its
 * own connection. Each chunk of text is the time at which the model sent it. So a delay covers the provider's stream,
 * the journal, the connection and the reader. The readers share the machine with the server.
 */
import { randomUUID } from 'node:crypto';
import { COMPATIBLE_URL_VARIABLE } from '../../a2a-server/models/model-settings.ts';
import { rpcBody } from '../support/rpc-answer.ts';
import { startAgent } from './agent.ts';
import type { Agent } from './agent.ts';
import type { BenchContext, Benchmark, Figure } from './benchmark.ts';
import { ownProgram, startProgram } from './child-program.ts';
import { peakMb, residentMb, settled } from './memory.ts';
import { stampedStream } from './stamped-stream.ts';
import type { StampedStream } from './stamped-stream.ts';
import { medianOf, quantileOf } from './statistics.ts';

const CROWD = 1_000;
/**
 * The pace of each model. A thousand tasks give 1,000 chunks per second; a thousand readers of one task get
 * 10,000.
 */
const TASKS = { chunks: 10, everyMs: 1_000 };
/** The maximum number of extra chunks of a task. The number is random, so that the tasks do not all end together. */
const MORE_CHUNKS = 10;
const ONE_TASK = { chunks: 100, everyMs: 100 };

const P99_AIM_MS = 250;

/** The benchmark measures more tasks and readers of one user than the limits allow. */
const NO_LIMITS = ['--max-tasks=2000', '--max-tasks-in-all=2000', '--max-streams=3000'];

type Pace = typeof TASKS;

export const crowd: Benchmark = {
  id: 'crowd',
  title: `${CROWD} tasks that stream at once, and ${CROWD} readers of one`,
  async run(context) {
    const tasks = await withModel(context, manyTasks);
    context.note('crowd: tasks done');
    const readers = await withModel(context, manyReaders);
    return [...figures(`${CROWD} tasks`, tasks), ...figures(`${CROWD} readers of one task`, readers)];
  },
};

interface Crowd {
  /** The delay of each chunk, in milliseconds. */
  delays: number[];
  /** The number of streams that failed, broke or missed chunks. */
  failed: number;
  kbEach: number;
  peakMb: number;
}

function figures(who: string, { delays, failed, kbEach, peakMb: peak }: Crowd): Figure[] {
  return [
    { name: `${who}: failures`, value: failed, unit: 'count', aim: { at: 'most', value: 0 } },
    {
      name: `${who}: model → reader, p99`,
      ...quantileOf(delays, 0.99),
      unit: 'ms',
      aim: { at: 'most', value: P99_AIM_MS },
    },
    { name: `${who}: model → reader, median`, ...medianOf(delays), unit: 'ms' },
    { name: `${who}: model → reader, longest`, ...quantileOf(delays, 1), unit: 'ms' },
    { name: `${who}: resident memory of each, before the first chunk`, value: kbEach, unit: 'KB' },
    { name: `${who}: resident memory of all the server at its peak`, value: peak, unit: 'MB' },
  ];
}

interface Place {
  agent: Agent;
  /** Waits until the model holds this number of requests. Then the model starts all its answers together. */
  go: (held: number) => Promise<unknown>;
}

async function withModel(context: BenchContext, work: (place: Place) => Promise<Crowd>): Promise<Crowd> {
  const model = await startProgram({ script: ownProgram('paced-model') });
  const agent = await startAgent(context, {
    args: ['--model=openai-compatible:paced', ...NO_LIMITS],
    env: { [COMPATIBLE_URL_VARIABLE]: `${model.said}/v1` },
  });
  const go = (held: number): Promise<unknown> => fetch(`${model.said}/go?held=${held}`, { method: 'POST' });
  try {
    // One task runs before the measurement, so that the server loads the provider's code.
    const first = task(agent, { chunks: 10, everyMs: 1 });
    await go(1);
    await first.delays;
    return await work({ agent, go });
  } finally {
    await agent.program.stop();
    await model.stop();
  }
}

async function manyTasks({ agent, go }: Place): Promise<Crowd> {
  const before = await restingMb(agent);
  const lengths = Array.from({ length: CROWD }, (_, index) => TASKS.chunks + (index % MORE_CHUNKS));
  const streams = lengths.map((chunks) => ({
    ...task(agent, { ...TASKS, chunks }),
    expected: chunks,
  }));
  await Promise.all(streams.map(({ taskId }) => taskId));
  const mb = (await restingMb(agent)) - before;
  await go(CROWD);
  return outcome(agent, streams, mb);
}

async function manyReaders({ agent, go }: Place): Promise<Crowd> {
  const one = task(agent, ONE_TASK);
  const path = `/tasks/${await one.taskId}:subscribe`;
  const before = await restingMb(agent);
  const streams = Array.from({ length: CROWD }, () => ({
    ...stampedStream(agent, { path }),
    expected: ONE_TASK.chunks,
  }));
  await Promise.all(streams.map(({ taskId }) => taskId));
  const mb = (await restingMb(agent)) - before;
  await go(1);
  return outcome(agent, streams, mb);
}

function task(agent: Agent, { chunks, everyMs }: Pace): StampedStream {
  const message = {
    messageId: randomUUID(),
    role: 'ROLE_USER',
    parts: [{ text: `pace ${chunks} ${everyMs}` }],
  };
  return stampedStream(agent, { path: '/', body: rpcBody('SendStreamingMessage', { message }) });
}

interface Expected extends StampedStream {
  /** The number of chunks that the stream must contain. */
  expected: number;
}

async function outcome({ program }: Agent, streams: readonly Expected[], mb: number): Promise<Crowd> {
  const ends = await Promise.allSettled(streams.map(({ delays }) => delays));
  const read = ends.map((end) => (end.status === 'fulfilled' ? end.value : []));
  return {
    delays: read.flat(),
    failed: streams.filter(({ expected }, index) => read[index]?.length !== expected).length,
    kbEach: (1024 * mb) / streams.length,
    peakMb: await peakMb(program.pid),
  };
}

async function restingMb({ program }: Agent): Promise<number> {
  await settled();
  return residentMb(program.pid);
}
