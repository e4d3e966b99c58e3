/**
 * Puts small faults into the core, one at a time, and counts those that the unit tests find:
 * `npm run mutants -- [--count 200] [--seed 1] [--only <part of a path>]`.
 *
 * The working tree stays as it is: esbuild bundles the fault with the tests. A fault runs only the unit tests that import its
 * file. It is found if a test fails, or runs for far longer than without the fault.
 */
import { context, type BuildContext, type Metafile, type Plugin } from 'esbuild';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { globSync } from 'tinyglobby';
import { isEquivalent } from './equivalents.ts';
import { mutated, mutationsOf, type Mutation } from './mutations.ts';

const SOURCES = ['a2a-server/task/*.ts', 'a2a-server/policy/*.ts', 'a2a-server/executor/follow-journal.ts'];
/** Tests that run in one process without the built programs. */
const TESTS = [
  'test/unit/a2a-server/{task,policy,executor,http/wire}/*.test.ts',
  'test/integration/executor/*.test.ts',
  '!**/interleavings.test.ts',
  '!**/parked-thousands.test.ts',
];
const RUNNER = 'test/mutants/run-tests.ts';
/** The share of the faults that the tests must find. */
const FLOOR = 0.9;
/** A fault may make a program endless. */
const TEST_LIMIT_MS = 5_000;
const RUN_LIMIT_MS = 60_000;

interface Fault {
  file: string;
  mutation: Mutation;
}

interface Build {
  /** The bundled test files by their source. */
  bundles: ReadonlyMap<string, string>;
  /** Per source, the tests that import it, by the number of imports between the two. */
  tests: ReadonlyMap<string, readonly { file: string; distance: number }[]>;
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    only: { type: 'string', default: '' },
  },
});

/** The next number of a seeded sequence, between 0 and 1 (mulberry32). */
function sequence(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Some of the faults, chosen at random and in the order of the files. */
function sample(faults: readonly Fault[], count: number, seed: number): Fault[] {
  const next = sequence(seed);
  const drawn = faults
    .map((fault, index) => ({ fault, index, lot: next() }))
    .toSorted((a, b) => a.lot - b.lot);
  return drawn
    .slice(0, count)
    .toSorted((a, b) => a.index - b.index)
    .map(({ fault }) => fault);
}

class Tests {
  readonly #out: string;
  readonly #files: readonly string[];
  #context: BuildContext<{ metafile: true }> | undefined;
  #fault: Fault | undefined;
  /** Gives esbuild the small runner for Jest, and the source with its fault. */
  readonly #plugin: Plugin = {
    name: 'fault',
    setup: (build) => {
      build.onResolve({ filter: /^@jest\/globals$/ }, () => ({ path: resolve('test/mutants/harness.ts') }));
      build.onLoad({ filter: /\/a2a-server\/(?:task|policy|executor)\/.*\.ts$/ }, ({ path }) => {
        const source = readFileSync(path, 'utf8');
        const fault = this.#fault;
        const contents =
          fault !== undefined && resolve(fault.file) === path ? mutated(source, fault.mutation) : source;
        return { contents, loader: 'ts' };
      });
    },
  };

  constructor(out: string, files: readonly string[]) {
    this.#out = out;
    this.#files = files;
  }

  /** Bundles the tests, with one fault if it is given. */
  async build(fault?: Fault): Promise<Build> {
    this.#fault = fault;
    this.#context ??= await context({
      entryPoints: [RUNNER, ...this.#files],
      outdir: this.#out,
      outbase: '.',
      bundle: true,
      splitting: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      metafile: true,
      outExtension: { '.js': '.mjs' },
      logLevel: 'silent',
      plugins: [this.#plugin],
    });
    const { metafile } = await this.#context.rebuild();
    return buildOf(metafile, this.#files);
  }

  async close(): Promise<void> {
    await this.#context?.dispose();
  }
}

function buildOf({ outputs, inputs }: Metafile, files: readonly string[]): Build {
  const bundles = new Map<string, string>();
  for (const [path, { entryPoint }] of Object.entries(outputs))
    if (entryPoint !== undefined) bundles.set(entryPoint, resolve(path));
  const tests = new Map<string, { file: string; distance: number }[]>();
  for (const file of files)
    for (const [source, distance] of importsOf(file, inputs))
      tests.set(source, [...(tests.get(source) ?? []), { file, distance }]);
  return { bundles, tests };
}

/** The files that a file imports, with the length of the way to each. */
function importsOf(file: string, inputs: Metafile['inputs']): Map<string, number> {
  const seen = new Map([[file, 0]]);
  for (const [at, distance] of seen)
    for (const { path } of inputs[at]?.imports ?? []) if (!seen.has(path)) seen.set(path, distance + 1);
  return seen;
}

type End = 'passed' | 'failed' | 'too-long';

function run(runner: string, bundles: readonly string[], limitMs: number): Promise<{ end: End; ms: number }> {
  const since = performance.now();
  const child = spawn(process.execPath, [runner, String(TEST_LIMIT_MS), ...bundles], {
    stdio: ['ignore', 'ignore', 'ignore'],
    env: { ...process.env, RUNS: process.env['RUNS'] ?? '0.1' },
  });
  return new Promise((done) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, limitMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      done({ end: late ? 'too-long' : code === 0 ? 'passed' : 'failed', ms: performance.now() - since });
    });
  });
}

function bundlesOf({ bundles }: Build, files: readonly string[]): string[] {
  return files.flatMap((file) => bundles.get(file) ?? []);
}

function place({ file, mutation: { line } }: Fault): string {
  return `${file}:${line}`;
}

async function lineOf({ file, mutation: { line } }: Fault): Promise<string> {
  return (await readFile(file, 'utf8')).split('\n')[line - 1]?.trim() ?? '';
}

async function changeOf(fault: Fault): Promise<string> {
  const { from, to, text } = fault.mutation;
  const source = await readFile(fault.file, 'utf8');
  return `${source.slice(from, to).replaceAll(/\s+/g, ' ')} → ${text}`;
}

/** How long each test file takes without a fault, in milliseconds. */
async function durations(build: Build, runner: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const [file, bundle] of build.bundles) {
    if (file === RUNNER) continue;
    const { end, ms } = await run(runner, [bundle], RUN_LIMIT_MS);
    if (end === 'passed') found.set(file, ms);
    else process.stdout.write(`left out, because it fails without a fault: ${file}\n`);
  }
  return found;
}

/** The related tests in two groups, the fast ones first: those that import the source themselves, and the others. */
function groupsOf(build: Build, source: string, took: ReadonlyMap<string, number>): string[][] {
  const related = (build.tests.get(source) ?? [])
    .filter(({ file }) => took.has(file))
    .toSorted((a, b) => (took.get(a.file) ?? 0) - (took.get(b.file) ?? 0));
  const near = related.filter(({ distance }) => distance === 1);
  const far = related.filter(({ distance }) => distance > 1);
  return [near, far].map((group) => group.map(({ file }) => file)).filter((group) => group.length > 0);
}

async function faultsIn(files: readonly string[]): Promise<Fault[]> {
  const all: Fault[] = [];
  for (const file of files)
    for (const mutation of mutationsOf(await readFile(file, 'utf8'))) all.push({ file, mutation });
  return all;
}

async function main(): Promise<boolean> {
  const out = join('node_modules', '.cache', `mutants-${process.pid}`);
  await mkdir(out, { recursive: true });
  const tests = new Tests(out, globSync(TESTS).toSorted());
  try {
    const clean = await tests.build();
    const runner = bundlesOf(clean, [RUNNER])[0] ?? '';
    const took = await durations(clean, runner);
    const sources = globSync(SOURCES).filter((file) => file.includes(values.only));
    const all = await faultsIn(sources.toSorted());
    const faults = sample(all, Number(values.count), Number(values.seed));
    process.stdout.write(`${faults.length} of ${all.length} faults, seed ${values.seed}\n`);
    const isFound = async (fault: Fault): Promise<boolean> => {
      const build = await tests.build(fault);
      for (const group of groupsOf(clean, fault.file, took)) {
        const limitMs = group.reduce((sum, file) => sum + (took.get(file) ?? 0), 0) * 4 + TEST_LIMIT_MS;
        if ((await run(runner, bundlesOf(build, group), limitMs)).end !== 'passed') return true;
      }
      return false;
    };
    let found = 0;
    let equivalent = 0;
    for (const fault of faults) {
      const [line, change] = [await lineOf(fault), await changeOf(fault)];
      if (isEquivalent({ file: basename(fault.file), line, change })) equivalent += 1;
      else if (await isFound(fault)) found += 1;
      else
        process.stdout.write(`not found: ${place(fault)} ${fault.mutation.kind}: ${change}\n    ${line}\n`);
    }
    const judged = faults.length - equivalent;
    const share = judged === 0 ? 1 : found / judged;
    process.stdout.write(
      `${found} of ${judged} faults found (${(share * 100).toFixed(1)} %), ${equivalent} equivalent ones left out\n`,
    );
    return share >= FLOOR;
  } finally {
    await tests.close();
    await rm(out, { recursive: true, force: true });
  }
}

process.exitCode = (await main()) ? 0 : 1;
