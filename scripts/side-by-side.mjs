// Runs npm scripts side by side: `node scripts/side-by-side.mjs <script> …`. Prints the output of each when it ends. Fails
// if one of them fails.
import { spawn } from 'node:child_process';

async function run(script) {
  const since = Date.now();
  const child = spawn('npm', ['run', '--silent', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => output.push(piece));
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const seconds = Math.round((Date.now() - since) / 1_000);
  process.stdout.write(`--- ${script}: ${code === 0 ? 'passed' : 'failed'} after ${seconds} s\n`);
  process.stdout.write(Buffer.concat(output));
  return code === 0;
}

const passed = await Promise.all(process.argv.slice(2).map(run));
if (passed.includes(false)) process.exitCode = 1;
