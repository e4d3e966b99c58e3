/**
 * Simulates a full disk for one process: until the limit is lifted, its files cannot grow. Sets RLIMIT_FSIZE from
 * outside, with `prlimit` of util-linux.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** True if this machine has `prlimit`. */
export async function hasFileSizeLimits(): Promise<boolean> {
  return run('prlimit', ['--version']).then(
    () => true,
    () => false,
  );
}

/** @param bytes the maximum size of the process's files. The limit does not shorten a file that is already longer. */
export async function limitFileSize(pid: number, bytes: number): Promise<void> {
  await run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
}

export async function liftFileSizeLimit(pid: number): Promise<void> {
  await run('prlimit', ['--pid', String(pid), '--fsize=unlimited:']);
}
