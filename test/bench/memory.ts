/** Measures the resident memory of the idle server: after a request for its card, and after a task. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { cardOf, clientFor, saying, startAgent } from './agent.ts';
import type { BenchContext, Benchmark } from './benchmark.ts';
import { ownProgram, startProgram } from './child-program.ts';
import { median } from './statistics.ts';

const ROUNDS = 5;
const AIM_MB = 90;
/** The time after which an idle process has returned its free memory, in milliseconds. */
const SETTLED_MS = 2_000;

export const memory: Benchmark = {
  id: 'memory',
  title: 'resident memory of the idle server, against an empty Node program',
  async run(context) {
    const rounds: Round[] = [];
    while (rounds.length < ROUNDS) rounds.push(await measure(context));
    const of = (name: keyof Round): number => median(rounds.map((round) => round[name]));
    return [
      {
        name: 'idle after a task, median',
        value: of('afterTask'),
        unit: 'MB',
        aim: { at: 'most', value: AIM_MB },
      },
      { name: 'idle after the start, median', value: of('afterStart'), unit: 'MB' },
      { name: 'empty program, median', value: of('empty'), unit: 'MB' },
    ];
  },
};

/** The resident memory in megabytes (2²⁰ bytes). */
interface Round {
  empty: number;
  afterStart: number;
  afterTask: number;
}

async function measure(context: BenchContext): Promise<Round> {
  const empty = await startProgram({ script: ownProgram('empty') });
  const agent = await startAgent(context);
  try {
    const card = await cardOf(agent.url);
    await settled();
    const afterStart = await residentMb(agent.program.pid);
    const client = await clientFor(card, agent.token);
    const task = saying({ text: 'Create test.md with hello', settings: { autoExecute: true } });
    for await (const event of client.sendMessageStream(task)) void event;
    await settled();
    return {
      empty: await residentMb(empty.pid),
      afterStart,
      afterTask: await residentMb(agent.program.pid),
    };
  } finally {
    await agent.program.stop();
    await empty.stop();
  }
}

export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
}

export function residentMb(pid: number): Promise<number> {
  return statusMb(pid, 'VmRSS');
}

/** @returns the peak memory in megabytes; on systems other than Linux, the current memory */
export function peakMb(pid: number): Promise<number> {
  return statusMb(pid, 'VmHWM');
}

async function statusMb(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const kilobytes =
    process.platform === 'linux'
      ? new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
      : (await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])).stdout.trim();
  if (kilobytes === undefined) throw new Error(`process ${pid} has no resident memory`);
  return Number(kilobytes) / 1024;
}
