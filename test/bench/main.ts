/** `npm run bench`: runs the benchmarks one after the other and prints their results. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { formatPage } from '../../scripts/format-page.ts';
import { run } from './benchmark.ts';
import type { BenchContext, Run, Section } from './benchmark.ts';
import { BENCHMARKS } from './benchmarks.ts';
import { compare } from './compare.ts';
import { commit, machine } from './machine.ts';
import { withFigures } from './page.ts';
import { comparison, report, summary } from './report.ts';

interface Flags {
  only: string[];
  json: boolean;
  compare?: string;
  markdown?: string;
  dist: string;
}

const ids = BENCHMARKS.map(({ id }) => id);
await new Command('bench')
  .description('Measures the built programs, each in a process of its own.')
  .addOption(new Option('--only <ids...>', 'these alone').choices(ids).default(ids, 'all'))
  .option('--json', 'print the figures as JSON, for --compare', false)
  .option(
    '--compare <file>',
    'also compare with an earlier --json run, and mark what changed beyond the noise',
  )
  .option('--markdown <page>', 'also write the figures into this page, e.g. docs/benchmarks.md')
  .option('--dist <dir>', 'the directory of the built programs', 'dist')
  .action((flags: Flags) => bench(flags))
  .parseAsync();

async function bench({ only, json, compare: file, markdown, dist }: Flags): Promise<void> {
  // The files are read before the benchmarks run, so that an invalid file fails at once.
  const earlier = file === undefined ? undefined : run.parse(JSON.parse(await readFile(file, 'utf8')));
  const page = markdown === undefined ? undefined : await readFile(markdown, 'utf8');
  const measured = await measure(only, resolve(dist), (each) => {
    // Prints each result at once, so that a later failure loses no figures.
    if (!json) process.stdout.write(`${report(each)}\n`);
  });
  process.stdout.write(json ? `${JSON.stringify(measured, null, 2)}\n` : `${measured.on}\n`);
  if (earlier !== undefined) {
    const compared = compare(earlier.sections, measured.sections);
    const tables = [...compared.map(comparison), `Earlier: ${earlier.on}`, summary(compared)];
    // With --json, stdout contains only the JSON.
    (json ? process.stderr : process.stdout).write(`\n${tables.join('\n')}`);
  }
  if (markdown !== undefined && page !== undefined) {
    await writeFile(markdown, await formatPage(markdown, withFigures(page, measured)));
  }
}

async function measure(
  only: readonly string[],
  dist: string,
  measured: (section: Section) => void,
): Promise<Run> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const context: BenchContext = { dist, directory, note };
  const sections: Section[] = [];
  try {
    for (const benchmark of BENCHMARKS) {
      const { id, title } = benchmark;
      if (!only.includes(id)) continue;
      note(`${id} … (load ${(loadavg()[0] ?? 0).toFixed(1)})`);
      const section = { id, title, figures: await benchmark.run(context) };
      sections.push(section);
      measured(section);
    }
    return { commit: await commit(), on: machine(), sections };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function note(words: string): void {
  process.stderr.write(`${words}\n`);
}
