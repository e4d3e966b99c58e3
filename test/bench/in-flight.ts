/**
 * Measures two hundred calls in flight in one bridge (B2). Each call waits for a running task, while other calls ask
 * for the status of tasks. Then the benchmark cancels every task, and each call gets its answer.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { RawClient } from '../integration/bridge/support/raw-client.ts';
import { startAgent } from './agent.ts';
import type { Benchmark } from './benchmark.ts';
import { peakMb } from './memory.ts';
import { median, medianOf, quantileOf } from './statistics.ts';

const CALLS = 200;
const LOOKS = 300;
/** The first calls are discarded, because Node still compiles code. */
const WARM_UP = 50;
const CANCEL_AIM_MS = 500;

const reported = z.object({ sessionId: z.string(), state: z.string() });

export const inFlight: Benchmark = {
  id: 'in-flight',
  title: `${String(CALLS)} calls in flight in one bridge, and calls beside them`,
  async run(context) {
    const agent = await startAgent(context, {
      args: [`--max-tasks=${String(CALLS)}`, `--max-tasks-in-all=${String(CALLS)}`],
    });
    const stateDir = await mkdtemp(join(context.directory, 'bridge-'));
    const program = {
      script: join(context.dist, 'bridge', 'main.js'),
      directory: context.directory,
      remove: async () => undefined,
    };
    const client = await RawClient.start(program, { stateDir, agentUrl: agent.url, token: agent.token });
    try {
      return await measure(client);
    } finally {
      await client.kill();
      await agent.program.stop();
    }
  },
};

async function measure(client: RawClient): ReturnType<Benchmark['run']> {
  const sessionIds = await Promise.all(Array.from({ length: CALLS }, () => delegated(client)));
  const alone = await statusCalls(client, sessionIds);
  const waits = sessionIds.map((sessionId) => client.call('wait_for_task', { sessionId, waitSeconds: 3600 }));
  const beside = await statusCalls(client, sessionIds);
  const began = performance.now();
  const cancels = sessionIds.map((sessionId) => client.call('cancel_running_task', { sessionId }));
  const answers = await Promise.all([...waits, ...cancels]);
  const took = performance.now() - began;
  const canceled = answers.filter(
    (answer) => reported.safeParse(answer.structuredContent).data?.state === 'cancelled',
  );
  const { pid } = client.process;
  return [
    {
      name: 'waits and cancels that were not answered with the end of their task',
      value: answers.length - canceled.length,
      unit: 'count',
      aim: { at: 'most', value: 0 },
    },
    {
      name: 'stray lines on stdout',
      value: client.invalidLines.length,
      unit: 'count',
      aim: { at: 'most', value: 0 },
    },
    {
      name: `a status call beside ${String(CALLS)} calls, to one without them, medians`,
      value: median(beside) / median(alone),
      unit: 'ratio',
    },
    { name: 'a status call, median', ...medianOf(alone), unit: 'ms' },
    { name: `the same beside ${String(CALLS)} calls, median`, ...medianOf(beside), unit: 'ms' },
    { name: 'a status call, p99', ...quantileOf(alone, 0.99), unit: 'ms' },
    { name: `the same beside ${String(CALLS)} calls, p99`, ...quantileOf(beside, 0.99), unit: 'ms' },
    {
      name: 'all cancelled at once → all answered',
      value: took,
      unit: 'ms',
      aim: { at: 'most', value: CANCEL_AIM_MS },
    },
    ...(pid === undefined
      ? []
      : [{ name: 'most memory the bridge had', value: await peakMb(pid), unit: 'MB' as const }]),
  ];
}

/** Delegates a task that runs until its cancel. @returns the session id */
async function delegated(client: RawClient): Promise<string> {
  const answer = await client.call('delegate_task_to_assistant', {
    task: 'Wait 3000 seconds',
    waitSeconds: 0,
  });
  return reported.parse(answer.structuredContent).sessionId;
}

/** Asks for the status of each session in turn. @returns the time of each call, in milliseconds */
async function statusCalls(client: RawClient, sessionIds: readonly string[]): Promise<number[]> {
  const took: number[] = [];
  for (let look = 0; look < WARM_UP + LOOKS; look += 1) {
    const began = performance.now();
    await client.call('check_task_progress_and_status', { sessionId: sessionIds[look % sessionIds.length] });
    if (look >= WARM_UP) took.push(performance.now() - began);
  }
  return took;
}
