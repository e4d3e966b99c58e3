/**
 * Puts small faults into the core, one at a time, and counts those that the unit tests find:
 * `npm run mutants -- [--count 200] [--seed 1] [--only <part of a path>]`.
 *
 * The working tree stays as it is: esbuild bundles the fault with the tests. A fault runs only the unit tests that import its
 * file. It is found if a test fails, or runs for far longer than without the fault.
 */
import { context, type BuildContext, type Metafile, type Plugin } from 'esbuild';
import { spawn, type ChildProcess } from 'node:child_process';
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
const TEST_LIMIT_MS = 20_000;
const RUN_LIMIT_MS = 60_000;

interface Fault {
  file: string;
  /** The text of the file when the run began. */
  source: string;
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
        const fault = this.#fault;
        const own = fault !== undefined && resolve(fault.file) === path;
        const contents = own ? mutated(fault.source, fault.mutation) : readFileSync(path, 'utf8');
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

/** The test run of the moment. */
let running: ChildProcess | undefined;

function run(
  build: Build,
  files: readonly string[],
  limitMs: number,
): Promise<{ end: End; ms: number; test: string }> {
  const since = performance.now();
  const [runner = '', ...bundles] = bundlesOf(build, [RUNNER, ...files]);
  const child = spawn(process.execPath, [runner, String(TEST_LIMIT_MS), ...bundles], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, RUNS: process.env['RUNS'] ?? '0.1' },
  });
  running = child;
  let test = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (test += text));
  return new Promise((done) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, limitMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      done({
        end: late ? 'too-long' : code === 0 ? 'passed' : 'failed',
        ms: performance.now() - since,
        test,
      });
    });
  });
}

function bundlesOf({ bundles }: Build, files: readonly string[]): string[] {
  return files.flatMap((file) => bundles.get(file) ?? []);
}

function place({ file, mutation: { line } }: Fault): string {
  return `${file}:${line}`;
}

function lineOf({ source, mutation: { line } }: Fault): string {
  return source.split('\n')[line - 1]?.trim() ?? '';
}

function changeOf({ source, mutation: { from, to, text } }: Fault): string {
  return `${source.slice(from, to).replaceAll(/\s+/g, ' ')} → ${text}`;
}

/** Measures test files without a fault, each once. */
class Durations {
  readonly #tests: Tests;
  readonly #found = new Map<string, number | undefined>();

  constructor(tests: Tests) {
    this.#tests = tests;
  }

  /** @returns the files that pass without a fault, and the milliseconds that they take together */
  async of(files: readonly string[]): Promise<{ usable: string[]; ms: number }> {
    const unknown = files.filter((file) => !this.#found.has(file));
    // The bundles on disk may have the last fault.
    if (unknown.length > 0) await this.#measure(await this.#tests.build(), unknown);
    const usable = files.filter((file) => this.#found.get(file) !== undefined);
    return { usable, ms: usable.reduce((sum, file) => sum + (this.#found.get(file) ?? 0), 0) };
  }

  async #measure(build: Build, files: readonly string[]): Promise<void> {
    for (const file of files) {
      const { end, ms, test } = await run(build, [file], RUN_LIMIT_MS);
      if (end !== 'passed')
        process.stdout.write(`left out, because it fails without a fault: ${file} (${test.slice(0, 200)})\n`);
      this.#found.set(file, end === 'passed' ? ms : undefined);
    }
  }
}

/** The related tests in two groups: those that import the source themselves, and the others. */
function groupsOf(build: Build, source: string): string[][] {
  const related = build.tests.get(source) ?? [];
  const near = related.filter(({ distance }) => distance === 1);
  const far = related.filter(({ distance }) => distance > 1).toSorted((a, b) => a.distance - b.distance);
  return [near, far].map((group) => group.map(({ file }) => file));
}

async function faultsIn(files: readonly string[]): Promise<Fault[]> {
  const all: Fault[] = [];
  for (const file of files) {
    const source = await readFile(file, 'utf8');
    for (const mutation of mutationsOf(source)) all.push({ file, source, mutation });
  }
  return all;
}

async function main(): Promise<boolean> {
  const out = join('node_modules', '.cache', `mutants-${process.pid}`);
  await mkdir(out, { recursive: true });
  const tests = new Tests(out, globSync(TESTS).toSorted());
  try {
    const clean = await tests.build();
    const durations = new Durations(tests);
    const sources = globSync(SOURCES).filter((file) => file.includes(values.only));
    const all = await faultsIn(sources.toSorted());
    const faults = sample(all, Number(values.count), Number(values.seed));
    process.stdout.write(`${faults.length} of ${all.length} faults, seed ${values.seed}\n`);
    const isFound = async (fault: Fault): Promise<boolean> => {
      for (const group of groupsOf(clean, fault.file)) {
        const { usable, ms } = await durations.of(group);
        if (usable.length === 0) continue;
        const { end } = await run(await tests.build(fault), usable, 4 * ms + TEST_LIMIT_MS);
        if (end !== 'passed') return true;
      }
      return false;
    };
    let found = 0;
    let equivalent = 0;
    for (const fault of faults) {
      const [line, change] = [lineOf(fault), changeOf(fault)];
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

// A test run must not outlive this program.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    running?.kill('SIGKILL');
    process.exit(1);
  });
process.exitCode = (await main()) ? 0 : 1;
