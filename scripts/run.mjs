// Runs a TypeScript program of the project: `node scripts/run.mjs <file.ts> [arguments]`. With --help, it prints the help
// of the program.
import { spawn } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { helpInSource } from './help-in-source.mjs';

const [program, ...args] = process.argv.slice(2);
if (program === undefined) {
  process.stderr.write('Usage: node scripts/run.mjs <file.ts> [arguments]\n');
  process.exit(2);
}

const source = resolve(program);
const help = args.some((arg) => arg === '--help' || arg === '-h') ? await helpInSource(source) : undefined;
if (help !== undefined) {
  process.stdout.write(help);
  process.exit();
}
process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));
const { bundleProgram } = await import('./bundle-program.mjs');
const bundle = await bundleProgram(source);
const child = spawn(process.execPath, ['--enable-source-maps', bundle, ...args], { stdio: 'inherit' });
// The child receives the terminal's signals itself, so this process only waits.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
child.on('exit', (code, signal) => {
  process.exit(signal === null ? code : 1);
});
