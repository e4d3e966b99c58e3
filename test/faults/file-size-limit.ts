/**
 * Simulates a full disk for one process: its files cannot grow (RLIMIT_FSIZE, set from outside with `prlimit` of
 * util-linux) until the limit is lifted.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether this machine has `prlimit`. */
export async function hasFileSizeLimits(): Promise<boolean> {
  return run('prlimit', ['--version']).then(
    () => true,
    () => false,
  );
}

/** @param bytes the maximum size of the process's files; a longer file keeps its size */
export async function limitFileSize(pid: number, bytes: number): Promise<void> {
  await run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
}

export async function liftFileSizeLimit(pid: number): Promise<void> {
  await run('prlimit', ['--pid', String(pid), '--fsize=unlimited:']);
}
