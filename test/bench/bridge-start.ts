/**
 * Measures the start of the bridge: the time until a client has its tool list, and the resident memory. Compares with
 * the smallest MCP server on the same SDK, both as people usually run it and as one bundle like the bridge.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { RawClient } from '../integration/bridge/support/raw-client.ts';
import type { BenchContext, Benchmark } from './benchmark.ts';
import { ownProgram } from './child-program.ts';
import { residentMb, settled } from './memory.ts';
import { median } from './statistics.ts';

const ROUNDS = 15;
/** In this number of first rounds, the process keeps running for a while. Then its settled memory is measured. */
const WEIGHED = 5;

const START_AIM = 1.5;
const BUNDLED_AIM = 1.3;
const MEMORY_AIM_MB = 75;

const BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

export const bridgeStart: Benchmark = {
  id: 'bridge-start',
  title: 'start of the bridge → its tools listed, against the least MCP server on the same SDK',
  async run(context) {
    const hello = ownProgram('hello');
    const bundled = await bundle(hello, context);
    const scripts = { bridge: join(context.dist, 'bridge', 'main.js'), hello, bundled };
    const rounds: Record<keyof typeof scripts, Started>[] = [];
    // The first round does not count, because it reads the files from the disk.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const weigh = round > 0 && round <= WEIGHED;
      const started = {
        bridge: await startOf(scripts.bridge, context, weigh),
        hello: await startOf(scripts.hello, context, weigh),
        bundled: await startOf(scripts.bundled, context, weigh),
      };
      if (round > 0) rounds.push(started);
    }
    const took = (name: keyof typeof scripts): number => median(rounds.map((round) => round[name].took));
    const kept = (name: keyof typeof scripts): number =>
      median(rounds.flatMap((round) => round[name].residentMb ?? []));
    return [
      {
        name: 'start → tools listed, to the least server from node_modules, medians',
        value: took('bridge') / took('hello'),
        unit: 'ratio',
        aim: { at: 'most', value: START_AIM },
      },
      {
        name: 'the same, to the least server bundled, medians',
        value: took('bridge') / took('bundled'),
        unit: 'ratio',
        aim: { at: 'most', value: BUNDLED_AIM },
      },
      { name: 'start → tools listed, median', value: took('bridge'), unit: 'ms' },
      { name: 'start of the least server, median', value: took('hello'), unit: 'ms' },
      { name: 'start of the least server bundled, median', value: took('bundled'), unit: 'ms' },
      {
        name: 'resident memory of the idle bridge, median',
        value: kept('bridge'),
        unit: 'MB',
        aim: { at: 'most', value: MEMORY_AIM_MB },
      },
      { name: 'of start of the least server, median', value: kept('hello'), unit: 'MB' },
      { name: 'of the least server bundled, median', value: kept('bundled'), unit: 'MB' },
    ];
  },
};

interface Started {
  /** The time of the start, in milliseconds. */
  took: number;
  /** The resident memory in megabytes (2²⁰ bytes). Set only in rounds that measure memory. */
  residentMb?: number;
}

async function startOf(script: string, { directory }: BenchContext, weigh: boolean): Promise<Started> {
  const stateDir = await mkdtemp(join(directory, 'bridge-'));
  const program = { script, directory, remove: async () => undefined };
  const began = performance.now();
  const client = RawClient.spawn(program, { stateDir });
  try {
    await client.initialize();
    const { result } = await client.request('tools/list', {});
    const took = performance.now() - began;
    if (result?.['tools'] === undefined) throw new Error(`${script} lists no tools`);
    const { pid } = client.process;
    if (!weigh || pid === undefined) return { took };
    await settled();
    return { took, residentMb: await residentMb(pid) };
  } finally {
    await client.kill();
  }
}

async function bundle(entry: string, { directory }: BenchContext): Promise<string> {
  const outfile = join(directory, 'hello.mjs');
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    minifyWhitespace: true,
    minifySyntax: true,
    banner: { js: BANNER },
    logLevel: 'warning',
  });
  return outfile;
}
