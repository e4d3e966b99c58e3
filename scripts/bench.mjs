// Bundles the TypeScript benchmarks and runs them on the current Node.
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { FOR_NODE } from './bundle-program.mjs';

// The output is below node_modules, so that package imports resolve and git ignores it.
await mkdir('node_modules/.cache', { recursive: true });
const outdir = await mkdtemp('node_modules/.cache/bench-');
try {
  await build({
    entryPoints: ['test/bench/main.ts', 'test/bench/programs/*.ts'],
    outdir,
    outbase: 'test/bench',
    ...FOR_NODE,
    packages: 'external',
    outExtension: { '.js': '.mjs' },
  });
  const child = spawn(process.execPath, [`${outdir}/main.mjs`, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  process.exitCode = await new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
} finally {
  await rm(outdir, { recursive: true, force: true });
}
