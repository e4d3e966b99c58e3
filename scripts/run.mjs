// Runs a TypeScript program of the project: `node scripts/run.mjs <file.ts> [arguments]`. It bundles the program
// first, because Node 20 runs no TypeScript. Packages load from node_modules. Each run has its own bundle, because
// several may run at the same time.
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join, parse, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [program, ...args] = process.argv.slice(2);
if (program === undefined) {
  process.stderr.write('Usage: node scripts/run.mjs <file.ts> [arguments]\n');
  process.exit(2);
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const outfile = join(
  root,
  'node_modules',
  '.cache',
  'mcp-a2a-bridge',
  `${parse(program).name}-${process.pid}.js`,
);
await build({
  entryPoints: [resolve(program)],
  outfile,
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: 'inline',
  logLevel: 'warning',
});

const child = spawn(process.execPath, ['--enable-source-maps', outfile, ...args], {
  cwd: root,
  stdio: 'inherit',
});
// The child receives the terminal's signals itself, so this process only waits.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
child.on('exit', (code, signal) => {
  rmSync(outfile, { force: true });
  process.exit(signal === null ? code : 1);
});
