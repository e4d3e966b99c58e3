/**
 * From the sending of an abort to the signal in the command, while others run, and to the end of the command's whole
 * process group, which is looked for all the time. Every command is a task of its own; the abort is a plain HTTP request.
 */
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from '../../a2a-server/tools/shell/process-group.ts';
import { A2aPeer } from '../support/a2a-peer.ts';
import type { EventStream } from '../support/event-stream.ts';
import { plan, shell } from '../support/offline-plan.ts';
import { startAgent } from './agent.ts';
import type { AgentOptions } from './agent.ts';
import type { BenchContext, Benchmark, Figure } from './benchmark.ts';
import { ownProgram } from './child-program.ts';
import { median, quantile } from './statistics.ts';

const RUNNING = 100;
const SAMPLES = 200;
/** Not counted: code is compiled in them. */
const WARM_UP = 10;
const ROUNDS = 15;
const SIGNAL_AIM_MS = 50;

const GRACE_MS = 1_000;
const GONE_AIM_MS = 100;
/** It, and the children it waits for; those of a shell that ignores a signal ignore it too. */
const HEEDS = 'echo told as $$; sleep 90 & sleep 90 & wait';
const DEAF = `trap '' TERM; ${HEEDS}`;

export const abort: Benchmark = {
  id: 'abort',
  title: `abort of a tool execution, ${RUNNING} running`,
  async run(context) {
    const one = await withPeer(context, {}, (peer) => signals(context, peer));
    context.note('abort: signals done');
    const all = await withPeer(context, {}, allAtOnce);
    const heeded = await withPeer(context, {}, (peer) => ends(peer, HEEDS));
    const ignored = await withPeer(context, { args: [`--grace=${GRACE_MS / 1000}s`] }, (peer) =>
      ends(peer, DEAF),
    );
    return [
      ...most('abort → signal, p99', quantile(one.signals, 0.99), SIGNAL_AIM_MS),
      { name: 'abort → signal, median', value: median(one.signals), unit: 'ms' },
      { name: 'a round trip beside it, p99', value: quantile(one.roundTrips, 0.99), unit: 'ms' },
      { name: `${RUNNING} aborted at once: abort → answer, median`, value: median(all), unit: 'ms' },
      { name: `${RUNNING} aborted at once: abort → answer, longest`, value: quantile(all, 1), unit: 'ms' },
      ...most('abort → process group gone, longest', quantile(heeded, 1), GONE_AIM_MS),
      { name: 'abort → process group gone, median', value: median(heeded), unit: 'ms' },
      ...most(
        `abort → process group that ignores SIGTERM gone, ${GRACE_MS} ms of grace, longest`,
        quantile(ignored, 1),
        GRACE_MS + GONE_AIM_MS,
      ),
      {
        name: 'abort → process group that ignores SIGTERM gone, median',
        value: median(ignored),
        unit: 'ms',
      },
    ];
  },
};

function most(name: string, value: number, aim: number): Figure[] {
  return [{ name, value, unit: 'ms', aim: { at: 'most', value: aim } }];
}

async function withPeer<T>(
  context: BenchContext,
  options: AgentOptions,
  work: (peer: A2aPeer) => Promise<T>,
): Promise<T> {
  const agent = await startAgent(context, options);
  try {
    return await work(new A2aPeer(agent));
  } finally {
    // Twice: what still runs need not come to its end.
    process.kill(agent.program.pid, 'SIGTERM');
    await agent.program.stop();
  }
}

/** Aborts one after the other; as many run all the time. */
async function signals(
  { directory }: BenchContext,
  peer: A2aPeer,
): Promise<{ signals: number[]; roundTrips: number[] }> {
  const files = await mkdtemp(join(directory, 'told-'));
  for (let running = 1; running < RUNNING; running += 1) await started(peer, HEEDS);
  const [signalled, roundTrips]: [number[], number[]] = [[], []];
  for (let sample = 0; sample < WARM_UP + SAMPLES; sample += 1) {
    const file = join(files, String(sample));
    const { toolId } = await started(peer, `exec '${process.execPath}' '${ownProgram('told')}' '${file}'`);
    const before = performance.now();
    await peer.request('/health', { method: 'GET' });
    const began = performance.now();
    await aborted(peer, toolId);
    const told = Number(await readFile(file, 'utf8')) - performance.timeOrigin;
    if (sample < WARM_UP) continue;
    roundTrips.push(began - before);
    signalled.push(told - began);
  }
  return { signals: signalled, roundTrips };
}

async function allAtOnce(peer: A2aPeer): Promise<number[]> {
  const ids: string[] = [];
  while (ids.length < RUNNING) ids.push((await started(peer, HEEDS)).toolId);
  return Promise.all(
    ids.map(async (toolId) => {
      const began = performance.now();
      await aborted(peer, toolId);
      return performance.now() - began;
    }),
  );
}

async function ends(peer: A2aPeer, command: string): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const { toolId, group } = await started(peer, command);
    const began = performance.now();
    const answer = aborted(peer, toolId);
    while (await isAlive(group));
    if (round > 0) times.push(performance.now() - began);
    await answer;
  }
  return times;
}

/** Starts a command and waits until it says that it runs; its stream is not read on. */
async function started(peer: A2aPeer, command: string): Promise<{ toolId: string; group: number }> {
  const stream = await peer.stream(plan(shell(command)), { settings: { autoExecute: true } });
  const toolId = await stream.output('told as');
  stream.connection.destroy();
  return { toolId, group: groupIn(stream) };
}

function groupIn({ seen }: EventStream): number {
  const said = seen.at(-1)?.activity;
  const group = said?.type === 'tool.output' && /told as (\d+)/.exec(said.text)?.[1];
  if (!group) throw new Error('the command did not say who it is');
  return Number(group);
}

async function aborted(peer: A2aPeer, toolId: string): Promise<void> {
  const { success, message } = await peer.abort(toolId, 'measured');
  if (!success) throw new Error(message);
}
