/**
 * Puts small faults into the core, one at a time, and counts those that the unit tests find:
 * `npm run mutants -- [--count 200] [--seed 1] [--only <part of a path>] [--integration]`.
 *
 * The working tree stays as it is: esbuild bundles the fault with the tests. A fault runs only the tests that import its file,
 * the nearest first, until one fails or hangs.
 */
import { mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { globSync } from 'tinyglobby';
import { isEquivalent } from './equivalents.ts';
import { changeOf, faultsIn, lineOf, SOURCES, type Fault } from './fault.ts';
import { sample } from './sample.ts';
import { TestBundles, testsOf, type Build } from './test-bundles.ts';
import { TestProcess, type Result } from './test-process.ts';

const UNIT_TESTS = [
  'test/unit/a2a-server/{task,policy,executor,http/wire}/**/*.test.ts',
  '!**/interleavings.test.ts',
];
/** Tests of the executor that need no built program. */
const INTEGRATION_TESTS = ['test/integration/executor/*.test.ts', '!**/parked-thousands.test.ts'];
/** The share of the faults that the tests must find. */
const FLOOR = 0.9;
/**
 * A fault can make a program run forever. This is the limit of one test, and the extra time of a file, in
 * milliseconds.
 */
const LIMIT_MS = 10_000;
const CLEAN_LIMIT_MS = 120_000;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    only: { type: 'string', default: '' },
    integration: { type: 'boolean', default: false },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs tests with and without a fault. */
class Tests {
  readonly #bundles: TestBundles;
  readonly #process: TestProcess;
  readonly #clean: Build;
  readonly #files: readonly string[];
  /** The time that each file takes without a fault, in milliseconds. Undefined if the file fails without a fault. */
  readonly #usual = new Map<string, number | undefined>();

  constructor(bundles: TestBundles, running: TestProcess, clean: Build, files: readonly string[]) {
    this.#bundles = bundles;
    this.#process = running;
    this.#clean = clean;
    this.#files = files;
  }

  /** @returns the test file that finds the fault, or undefined */
  async find(fault: Fault): Promise<string | undefined> {
    const related = testsOf(this.#clean, fault.file, this.#files);
    for (const { test } of related) await this.#measure(test);
    const usable = related.flatMap(({ test, distance }) => {
      const ms = this.#usual.get(test);
      return ms === undefined ? [] : [{ test, isFar: Number(distance > 1), ms }];
    });
    const build = await this.#bundles.build(fault);
    for (const { test, ms } of usable.toSorted((a, b) => a.isFar - b.isFar || a.ms - b.ms)) {
      const { type } = await this.#run(build, test, 4 * ms + LIMIT_MS);
      if (type === 'failed') return test;
    }
    return undefined;
  }

  async #measure(test: string): Promise<void> {
    if (this.#usual.has(test)) return;
    const result = await this.#run(this.#clean, test, CLEAN_LIMIT_MS);
    if (result.type === 'failed')
      print(`left out, because it fails without a fault: ${test} (${result.failure.slice(0, 200)})`);
    this.#usual.set(test, result.type === 'passed' ? result.ms : undefined);
  }

  async #run(build: Build, test: string, limitMs: number): Promise<Result> {
    const { directory, ...order } = await this.#bundles.write(build, test);
    const result = await this.#process.run({ ...order, limitMs: Math.min(limitMs, LIMIT_MS * 2) }, limitMs);
    await rm(directory, { recursive: true, force: true });
    return result;
  }
}

async function judge(tests: Tests, faults: readonly Fault[]): Promise<boolean> {
  const count = { found: 0, 'not found': 0, equivalent: 0 };
  for (const [index, fault] of faults.entries()) {
    const { file, mutation } = fault;
    const [line, change] = [lineOf(fault), changeOf(fault)];
    const known = isEquivalent({ file: basename(file), line, change });
    const test = known ? undefined : await tests.find(fault);
    const verdict = known ? 'equivalent' : test === undefined ? 'not found' : 'found';
    count[verdict] += 1;
    const place = `${index + 1}/${faults.length} ${verdict}: ${file}:${mutation.line} ${mutation.kind}: ${change}`;
    print(
      verdict === 'not found' ? `${place}\n    ${line}` : `${place}${test ? ` (${basename(test)})` : ''}`,
    );
  }
  const judged = count.found + count['not found'];
  const share = judged === 0 ? 1 : count.found / judged;
  print(
    `${count.found} of ${judged} faults found (${(share * 100).toFixed(1)} %), ${count.equivalent} equivalent ones left out`,
  );
  return share >= FLOOR;
}

async function main(): Promise<boolean> {
  const out = join('node_modules', '.cache', `mutants-${process.pid}`);
  await mkdir(out, { recursive: true });
  const files = globSync(values.integration ? [...UNIT_TESTS, ...INTEGRATION_TESTS] : UNIT_TESTS).toSorted();
  const bundles = new TestBundles(out, files);
  let running: TestProcess | undefined;
  // If this program gets a signal, it first ends the test process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      running?.end();
      process.exit(1);
    });
  try {
    const clean = await bundles.build();
    running = new TestProcess(await bundles.writeWorker(clean));
    const sources = globSync(SOURCES).filter((file) => file.includes(values.only));
    const all = await faultsIn(sources.toSorted());
    const faults = sample(all, Number(values.count), Number(values.seed));
    print(`${faults.length} of ${all.length} faults, seed ${values.seed}, ${files.length} test files`);
    return await judge(new Tests(bundles, running, clean, files), faults);
  } finally {
    running?.end();
    await bundles.close();
    await rm(out, { recursive: true, force: true });
  }
}

process.exitCode = (await main()) ? 0 : 1;
