/** A killed process whose parent never reads its exit code. Linux only. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';

/** @returns the pid of the zombie, and a function that ends its parent */
export async function startZombie(): Promise<{ pid: number; end: () => void }> {
  // The shell becomes `sleep`, which never reads the exit code of the inherited child.
  const parent = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [chunk]: unknown[] = await once(parent.stdout, 'data');
  const pid = Number(String(chunk));
  // Before this change, the shell may still read the exit code.
  while ((await readFile(`/proc/${String(parent.pid)}/comm`, 'utf8')) !== 'sleep\n');
  process.kill(pid, 'SIGKILL');
  while (!/\) Z /.test(await readFile(`/proc/${String(pid)}/stat`, 'utf8')));
  return { pid, end: () => void parent.kill('SIGKILL') };
}
