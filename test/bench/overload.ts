/**
 * Measures a server that gets twice the work that it can do, and a quiet user beside a loud one. All figures are ratios
 * within one run. The clients share the machine with the server.
 *
 * - Messages arrive at a fixed rate, as from many independent users. The goodput is the rate of completed tasks. The
 *   capacity is the highest goodput over all rates of messages.
 * - A few clients that each wait for their answers show roughly which rates to try. Their own rate is no capacity for
 *   independent users: their tasks run in step and share most commits.
 * - The capacity and the overload are measured in turn, because the speed of a machine changes. Each load lasts a while
 *   before it is measured, so that the queue is full.
 * - A refused message counts as no work, and its client does not repeat it.
 */
import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type Agent, startAgent } from './agent.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { cpuMs } from './child-program.ts';
import { delegationSender, type SendDelegation } from './delegation-sender.ts';
import { quantile } from './statistics.ts';

const LOUD = 'token-of-the-loud-user-0123456789';
const QUIET = 'token-of-the-quiet-user-0123456789';
const CLIENTS = [8, 16, 32];
const CONNECTIONS = 100;
/** The first rate of messages that is tried, relative to the rate of the best number of clients. */
const FIRST_RATE = 0.6;
/** Each further rate that is tried, relative to the one before. */
const NEXT_RATE = 1.15;
const WARM_UP_MS = 3_000;
const ROUND_MS = 5_000;
/** How often the capacity and the overload are measured. */
const PAIRS = 6;

const GOODPUT_AIM = 0.9;
const QUIET_AIM = 5;

export const overload: Benchmark = {
  id: 'overload',
  title: 'twice the work that a server can do, and a quiet user beside a loud one',
  async run(context) {
    const agent = await startAgent(context, {
      env: { A2A_SERVER_TOKENS: `loud=${LOUD},quiet=${QUIET}` },
    });
    const loud = delegationSender(agent.url, LOUD);
    const quiet = (): Promise<number[]> => quietUser(agent.url);
    try {
      await fullLoad(loud, 16, WARM_UP_MS);
      const rates = [];
      for (const clients of CLIENTS)
        rates.push({ clients, rate: (await fullLoad(loud, clients, ROUND_MS)).goodput });
      const inStep = rates.reduce((one, other) => (other.rate > one.rate ? other : one));
      context.note(`overload: ${inStep.rate.toFixed(0)} tasks a second with ${inStep.clients} clients`);
      const best = await findCapacity(loud, FIRST_RATE * inStep.rate);
      context.note(
        `overload: the capacity is ${best.goodput.toFixed(0)} tasks a second at ${best.rate.toFixed(0)} messages a second`,
      );
      const pairs = [];
      for (let pair = 0; pair < PAIRS; pair += 1) {
        const peak = await withCpu(agent, () => openLoop(loud, best.rate, ROUND_MS));
        const double = await withCpu(agent, () => openLoop(loud, 2 * peak.goodput, ROUND_MS));
        pairs.push({ peak, double });
      }
      context.note('overload: twice the capacity done');
      const alone = await quiet();
      const besideConnections = await beside(quiet, (signal) => closedLoop(loud, CONNECTIONS, signal));
      const besideDouble = await beside(quiet, (signal) =>
        openLoop(loud, 2 * best.goodput, Infinity, signal),
      );
      return figures({ pairs, inStep: inStep.rate, alone, besideConnections, besideDouble });
    } finally {
      await agent.program.stop();
    }
  },
};

interface Measured {
  /** The load at the capacity, and twice its goodput right after it. */
  pairs: { peak: LoadWithCpu; double: LoadWithCpu }[];
  /** Tasks per second of the best number of clients that each wait for their answers. */
  inStep: number;
  alone: number[];
  besideConnections: number[];
  besideDouble: number[];
}

interface Load {
  /** Delegations that completed while the load was measured, per second. */
  goodput: number;
  /** All delegations that completed, also those of the warm-up. */
  completed: number;
  refused: number;
  failed: number;
}

interface LoadWithCpu extends Load {
  /** The CPU time of the server, in milliseconds. */
  cpu: number;
}

function figures({ pairs, inStep, alone, besideConnections, besideDouble }: Measured): Figure[] {
  const sum = (load: 'peak' | 'double', part: keyof LoadWithCpu): number =>
    pairs.reduce((total, pair) => total + pair[load][part], 0);
  const cpuOfTask = (load: 'peak' | 'double'): number => sum(load, 'cpu') / sum(load, 'completed');
  const own = quantile(alone, 0.99);
  const times = (samples: readonly number[]): Pick<Figure, 'value' | 'unit' | 'aim'> => ({
    value: quantile(samples, 0.99) / own,
    unit: 'ratio',
    aim: { at: 'most', value: QUIET_AIM },
  });
  return [
    {
      name: 'goodput at twice the capacity / at the peak',
      value: sum('double', 'goodput') / sum('peak', 'goodput'),
      unit: 'ratio',
      aim: { at: 'least', value: GOODPUT_AIM },
    },
    {
      name: 'requests that failed without a refusal',
      value: sum('double', 'failed'),
      unit: 'count',
      aim: { at: 'most', value: 0 },
    },
    {
      name: `quiet user beside ${CONNECTIONS} connections of another / alone, p99`,
      ...times(besideConnections),
    },
    { name: 'quiet user beside twice the capacity of another / alone, p99', ...times(besideDouble) },
    {
      name: 'CPU time of the server for a completed task, at twice the capacity / at the peak',
      value: cpuOfTask('double') / cpuOfTask('peak'),
      unit: 'ratio',
    },
    { name: 'capacity', value: sum('peak', 'goodput') / pairs.length, unit: 'tasks/s' },
    { name: 'clients that each wait for their answers', value: inStep, unit: 'tasks/s' },
    {
      name: 'requests refused at twice the capacity',
      value: sum('double', 'refused'),
      unit: 'count',
    },
    { name: 'quiet user alone, p99', value: own, unit: 'ms' },
    { name: 'quiet user alone, median', value: quantile(alone, 0.5), unit: 'ms' },
    {
      name: `quiet user beside ${CONNECTIONS} connections, median`,
      value: quantile(besideConnections, 0.5),
      unit: 'ms',
    },
    { name: 'quiet user beside twice the capacity, median', value: quantile(besideDouble, 0.5), unit: 'ms' },
  ];
}

async function withCpu({ program }: Agent, run: () => Promise<Load>): Promise<LoadWithCpu> {
  const before = await cpuMs(program.pid);
  const load = await run();
  return { ...load, cpu: (await cpuMs(program.pid)) - before };
}

/** Increases the rate of messages until the goodput has not increased twice. Returns the rate with the highest goodput. */
async function findCapacity(send: SendDelegation, first: number): Promise<{ rate: number; goodput: number }> {
  let best = { rate: first, goodput: 0 };
  for (let rate = first, worse = 0; worse < 2; rate *= NEXT_RATE) {
    const { goodput } = await openLoop(send, rate, ROUND_MS);
    worse = goodput > best.goodput ? 0 : worse + 1;
    if (worse === 0) best = { rate, goodput };
  }
  return best;
}

/** The load of clients that each send the next message after the answer to the last one. */
async function fullLoad(send: SendDelegation, clients: number, ms: number): Promise<Load> {
  const end = new AbortController();
  const began = performance.now();
  const loop = closedLoop(send, clients, end.signal);
  await wait(ms);
  end.abort();
  const took = performance.now() - began;
  const { inTime, ...load } = await loop;
  return { ...load, goodput: inTime / (took / 1_000) };
}

type Counts = Omit<Load, 'goodput'> & {
  /** The delegations that completed while the load was measured. */
  inTime: number;
};

async function closedLoop(send: SendDelegation, clients: number, signal: AbortSignal): Promise<Counts> {
  const counts = { inTime: 0, completed: 0, refused: 0, failed: 0 };
  const client = async (): Promise<void> => {
    while (!signal.aborted) {
      const outcome = await send();
      counts[outcome] += 1;
      if (outcome === 'completed' && !signal.aborted) counts.inTime += 1;
      if (outcome === 'refused') await wait(100);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return counts;
}

/**
 * Sends messages at a fixed rate, whether or not earlier ones are answered. Counts what is done in the `ms` milliseconds
 * after a warm-up.
 */
async function openLoop(send: SendDelegation, rate: number, ms: number, signal?: AbortSignal): Promise<Load> {
  const counts = { completed: 0, refused: 0, failed: 0 };
  let inTime = 0;
  const open = new Set<Promise<void>>();
  const began = performance.now();
  let over = false;
  const record = async (): Promise<void> => {
    const outcome = await send();
    counts[outcome] += 1;
    if (outcome === 'completed' && !over && performance.now() - began >= WARM_UP_MS) inTime += 1;
  };
  for (let sent = 0; !over;) {
    const passed = performance.now() - began;
    over = passed >= WARM_UP_MS + ms || signal?.aborted === true;
    const due = over ? 0 : (passed / 1_000) * rate;
    for (; sent < due; sent += 1) {
      const one: Promise<void> = record();
      open.add(one);
      void one.finally(() => open.delete(one));
    }
    await wait(5);
  }
  const took = performance.now() - began - WARM_UP_MS;
  await Promise.all(open);
  return { ...counts, goodput: inTime / (took / 1_000) };
}

/**
 * Runs the quiet user in a process of its own, so that the load does not delay its clock. Returns the time of each
 * delegation, in milliseconds.
 */
async function quietUser(url: string): Promise<number[]> {
  const program = ['scripts/run.mjs', 'test/bench/quiet-user.ts', url, QUIET];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  return z.array(z.number()).parse(JSON.parse(stdout));
}

async function beside(
  quiet: () => Promise<number[]>,
  loud: (signal: AbortSignal) => Promise<unknown>,
): Promise<number[]> {
  const end = new AbortController();
  const load = loud(end.signal);
  await wait(1_000);
  const times = await quiet();
  end.abort();
  await load;
  return times;
}
