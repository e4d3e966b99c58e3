/** `npm run bench`: runs the benchmarks one after the other and prints what they reached. It judges nothing. */
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { abort } from './abort.ts';
import { append } from './append.ts';
import { approval } from './approval.ts';
import type { Benchmark, BenchContext } from './benchmark.ts';
import { bridge } from './bridge.ts';
import { bridgeStart } from './bridge-start.ts';
import { cancel } from './cancel.ts';
import { crowd } from './crowd.ts';
import { inFlight } from './in-flight.ts';
import { longJournal } from './long-journal.ts';
import { machine } from './machine.ts';
import { memory } from './memory.ts';
import { parked } from './parked.ts';
import { report } from './report.ts';
import type { Section } from './report.ts';
import { resume } from './resume.ts';
import { soakTurns } from './soak.ts';
import { start } from './start.ts';
import { stream } from './stream.ts';

const BENCHMARKS: readonly Benchmark[] = [
  stream,
  approval,
  bridge,
  bridgeStart,
  inFlight,
  memory,
  start,
  append,
  longJournal,
  parked,
  resume,
  crowd,
  soakTurns,
  abort,
  cancel,
];

interface Flags {
  only: string[];
  json: boolean;
  dist: string;
}

const ids = BENCHMARKS.map(({ id }) => id);
await new Command('bench')
  .description('Measures the built programs, each in a process of its own.')
  .addOption(new Option('--only <ids...>', 'these alone').choices(ids).default(ids, 'all'))
  .option('--json', 'figures as JSON', false)
  .option('--dist <dir>', 'where the built programs lie', 'dist')
  .action((flags: Flags) => bench(flags))
  .parseAsync();

async function bench({ only, json, dist }: Flags): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const context: BenchContext = { dist: resolve(dist), directory, note };
  try {
    const sections: (Section & { id: string })[] = [];
    for (const { id, title, run } of BENCHMARKS) {
      if (!only.includes(id)) continue;
      note(`${id} … (load ${(loadavg()[0] ?? 0).toFixed(1)})`);
      const section = { id, title, figures: await run(context) };
      sections.push(section);
      // At once: a later one that fails takes nothing with it.
      if (!json) process.stdout.write(`${report([section])}\n`);
    }
    const on = machine();
    process.stdout.write(json ? `${JSON.stringify({ on, sections }, null, 2)}\n` : `${on}\n`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function note(words: string): void {
  process.stderr.write(`${words}\n`);
}
