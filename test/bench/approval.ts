/**
 * Measures the time from an approval to two moments: the event in its stream that says that the tool has started, and
 * the rename of the file that the tool wrote. On the same disk it also measures a bare HTTP round trip, a commit of
 * one row with the same driver and durability, and a durable write of a file.
 */
import { watch } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@a2a-js/sdk/client';
import { openSqlite } from '../../shared/sqlite/driver.ts';
import { activityOf, cardOf, clientFor, saying, startAgent, WITH_APPROVAL } from './agent.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { ownProgram, startProgram } from './child-program.ts';
import { median, medianOf, quantileOf } from './statistics.ts';
import { approving, lastWaiting } from './waiting-call.ts';

const FILE = 'log.txt';
const TASKS = 16;
const APPROVALS_PER_TASK = 25;
/** The first tasks are not measured, because Node still compiles code. */
const WARM_UP_TASKS = 2;

const MEDIAN_AIM_MS = 5;
const P99_AIM_MS = 20;
/** The largest allowed ratio: approval to file, divided by the sum of a round trip, a commit and a durable write. */
const FILE_RATIO_AIM = 3;

export const approval: Benchmark = {
  id: 'approval',
  title: 'approval → tool started → file written, against a bare round trip, commit and write',
  async run(context) {
    const agent = await startAgent(context);
    const echo = await startProgram({ script: ownProgram('echo') });
    const bare = bareCommits(join(context.directory, 'commits.db'));
    const aside = async (): Promise<Aside> => ({
      roundTrip: await echoed(echo.said),
      commit: bare.commit(),
      write: await bareWrite(context.directory),
    });
    const named = namings(agent.workspace, FILE);
    try {
      const client = await clientFor(await cardOf(agent.url), agent.token);
      const samples: Sample[] = [];
      for (let task = 0; task < WARM_UP_TASKS + TASKS; task += 1) {
        const measured = await approveAll(client, { aside, named: named.next });
        if (task >= WARM_UP_TASKS) samples.push(...measured);
      }
      context.note(`approval: ${samples.length} samples`);
      return figures(samples);
    } finally {
      bare.close();
      named.close();
      await echo.stop();
      await agent.program.stop();
    }
  },
};

/** Times of the operations for comparison, in milliseconds. */
interface Aside {
  roundTrip: number;
  commit: number;
  write: number;
}

interface Sample extends Aside {
  started: number;
  /** The time from the approval to the rename of the file, in milliseconds. */
  written: number;
}

function figures(samples: readonly Sample[]): Figure[] {
  const started = samples.map((sample) => sample.started);
  const roundTrips = samples.map((sample) => sample.roundTrip);
  const commits = samples.map((sample) => sample.commit);
  const writes = samples.map((sample) => sample.write);
  const written = samples.map((sample) => sample.written);
  return [
    {
      name: 'approval → tool started, median',
      ...medianOf(started),
      unit: 'ms',
      aim: { at: 'most', value: MEDIAN_AIM_MS },
    },
    {
      name: 'approval → tool started, p99',
      ...quantileOf(started, 0.99),
      unit: 'ms',
      aim: { at: 'most', value: P99_AIM_MS },
    },
    { name: 'approval → file written, median', ...medianOf(written), unit: 'ms' },
    { name: 'approval → file written, p99', ...quantileOf(written, 0.99), unit: 'ms' },
    {
      name: 'to a round trip, a commit and a durable write, medians',
      value: median(written) / (median(roundTrips) + median(commits) + median(writes)),
      unit: 'ratio',
      aim: { at: 'most', value: FILE_RATIO_AIM },
    },
    { name: 'bare durable write, median', ...medianOf(writes), unit: 'ms' },
    { name: 'bare HTTP round trip, median', ...medianOf(roundTrips), unit: 'ms' },
    { name: 'bare HTTP round trip, p99', ...quantileOf(roundTrips, 0.99), unit: 'ms' },
    { name: 'bare commit, median', ...medianOf(commits), unit: 'ms' },
    { name: 'bare commit, p99', ...quantileOf(commits, 0.99), unit: 'ms' },
    {
      name: 'to a round trip and two commits, medians',
      value: median(started) / (median(roundTrips) + 2 * median(commits)),
      unit: 'ratio',
    },
  ];
}

/** Runs one task that asks for one approval after another. */
async function approveAll(
  client: Client,
  { aside, named }: { aside: () => Promise<Aside>; named: () => Promise<number> },
): Promise<Sample[]> {
  const call = { tool: 'append-file', input: { path: FILE, content: 'one more line\n' } };
  const plan = { plan: Array.from({ length: APPROVALS_PER_TASK }, () => call) };
  let waiting = await lastWaiting(
    client.sendMessageStream(saying({ text: JSON.stringify(plan) }), WITH_APPROVAL),
  );
  const samples: Sample[] = [];
  while (waiting !== undefined) {
    const beside = await aside();
    const naming = named();
    const began = performance.now();
    const events = client.sendMessageStream(approving(waiting), WITH_APPROVAL);
    let started: number | undefined;
    waiting = await lastWaiting(events, (event) => {
      if (activityOf(event)?.type === 'tool.started') started ??= performance.now() - began;
    });
    if (started === undefined) throw new Error('the tool did not start');
    samples.push({ started, written: (await naming) - began, ...beside });
  }
  if (samples.length !== APPROVALS_PER_TASK) throw new Error(`${samples.length} calls were asked for`);
  return samples;
}

/** Reports the time at which a file in the directory gets its name, from the file system's events. */
function namings(directory: string, file: string): { next: () => Promise<number>; close: () => void } {
  let told: ((at: number) => void) | undefined;
  const watcher = watch(directory, (event, name) => {
    if (event === 'rename' && name === file) told?.(performance.now());
  });
  return { next: () => new Promise((resolve) => (told = resolve)), close: () => watcher.close() };
}

/** Writes a file like the file tools: a new durable file, a rename, and a durable directory entry. */
async function bareWrite(directory: string): Promise<number> {
  const began = performance.now();
  const temporary = join(directory, 'bare.tmp');
  const file = await open(temporary, 'w');
  await file.writeFile('one more line\n');
  await file.sync();
  await file.close();
  await rename(temporary, join(directory, 'bare.txt'));
  const names = await open(directory, 'r');
  await names.sync();
  await names.close();
  return performance.now() - began;
}

async function echoed(url: string): Promise<number> {
  const began = performance.now();
  const response = await fetch(url, { method: 'POST', body: '{"decision":"approve"}' });
  await response.text();
  return performance.now() - began;
}

function bareCommits(path: string): { commit: () => number; close: () => void } {
  const database = openSqlite(path, { busyTimeoutMs: 0 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (body TEXT) STRICT');
  const insert = database.command('INSERT INTO rows VALUES (?)');
  const body = 'x'.repeat(200);
  return {
    commit() {
      const began = performance.now();
      database.transaction(() => insert(body));
      return performance.now() - began;
    },
    close: () => database.close(),
  };
}
