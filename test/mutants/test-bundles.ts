/** Bundles test files with esbuild, optionally with one fault in a source. Knows which tests import a source. */
import { context, type BuildContext, type Metafile, type OutputFile, type Plugin } from 'esbuild';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Fault } from './fault.ts';
import { mutated } from './mutations.ts';
import type { Order } from './worker.ts';

const HARNESS = 'test/mutants/harness.ts';
const WORKER = 'test/mutants/worker.ts';

/** The bundles of one build, in memory. */
export interface Build {
  metafile: Metafile;
  files: readonly OutputFile[];
}

export class TestBundles {
  readonly #out: string;
  readonly #tests: readonly string[];
  #context: BuildContext<{ metafile: true; write: false }> | undefined;
  #fault: Fault | undefined;
  #written = 0;
  /** Gives esbuild the harness for Jest, and the source with its fault. */
  readonly #plugin: Plugin = {
    name: 'fault',
    setup: (build) => {
      build.onResolve({ filter: /^@jest\/globals$/ }, () => ({ path: resolve(HARNESS) }));
      build.onLoad({ filter: /\/a2a-server\/(?:task|policy|executor)\/.*\.ts$/ }, ({ path }) => {
        const fault = this.#fault;
        const own = fault !== undefined && resolve(fault.file) === path;
        const contents = own ? mutated(fault.source, fault.mutation) : readFileSync(path, 'utf8');
        return { contents, loader: 'ts' };
      });
    },
  };

  /** @param out a directory below the project, so that the bundles find its packages */
  constructor(out: string, tests: readonly string[]) {
    this.#out = resolve(out);
    this.#tests = tests;
  }

  async build(fault?: Fault): Promise<Build> {
    this.#fault = fault;
    this.#context ??= await context({
      entryPoints: [HARNESS, WORKER, ...this.#tests],
      outdir: this.#out,
      outbase: '.',
      bundle: true,
      splitting: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      metafile: true,
      write: false,
      outExtension: { '.js': '.mjs' },
      logLevel: 'silent',
      plugins: [this.#plugin],
    });
    const { metafile, outputFiles } = await this.#context.rebuild();
    return { metafile, files: outputFiles };
  }

  /** Writes the bundle of one test into its own directory. So Node loads each module again, as Jest does. */
  async write(build: Build, test: string): Promise<Omit<Order, 'limitMs'> & { directory: string }> {
    const { directory, paths } = await this.#write(build, [HARNESS, test]);
    const [harness = '', file = ''] = paths;
    return { harness, file, directory };
  }

  /** @returns the path of the program that runs tests */
  async writeWorker(build: Build): Promise<string> {
    const { paths } = await this.#write(build, [WORKER]);
    return paths[0] ?? '';
  }

  async close(): Promise<void> {
    await this.#context?.dispose();
  }

  async #write(
    { metafile: { outputs }, files }: Build,
    entries: readonly string[],
  ): Promise<{ directory: string; paths: string[] }> {
    this.#written += 1;
    const directory = join(this.#out, String(this.#written));
    const placed = (path: string) => join(directory, relative(this.#out, resolve(path)));
    const outputOf = new Map(Object.entries(outputs).map(([path, { entryPoint }]) => [entryPoint, path]));
    const roots = entries.map((entry) => outputOf.get(entry) ?? '');
    const needed = new Set(roots);
    for (const path of needed)
      for (const { path: imported, external } of outputs[path]?.imports ?? [])
        if (external !== true) needed.add(imported);
    const wanted = new Set([...needed].map((path) => resolve(path)));
    for (const { path, contents } of files)
      if (wanted.has(path)) {
        await mkdir(dirname(placed(path)), { recursive: true });
        await writeFile(placed(path), contents);
      }
    return { directory, paths: roots.map(placed) };
  }
}

/** Returns the tests that import a source, directly or indirectly, with the number of imports between the two. */
export function testsOf(
  { metafile: { inputs } }: Build,
  source: string,
  tests: readonly string[],
): { test: string; distance: number }[] {
  return tests.flatMap((test) => {
    const distance = importsOf(test, inputs).get(source);
    return distance === undefined ? [] : [{ test, distance }];
  });
}

/** Returns the files that a file imports, with the number of imports between the two. */
function importsOf(file: string, inputs: Metafile['inputs']): Map<string, number> {
  const seen = new Map([[file, 0]]);
  for (const [at, distance] of seen)
    for (const { path } of inputs[at]?.imports ?? []) if (!seen.has(path)) seen.set(path, distance + 1);
  return seen;
}
