/**
 * No room on the disk, for one process: its files can grow no further (RLIMIT_FSIZE, set from outside with `prlimit` of
 * util-linux), and can again when the limit is lifted.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether this machine can do it. */
export async function hasFileSizeLimits(): Promise<boolean> {
  return run('prlimit', ['--version']).then(
    () => true,
    () => false,
  );
}

/** @param bytes that no file of the process can grow beyond; what is longer stays as it is */
export async function limitFileSize(pid: number, bytes: number): Promise<void> {
  await run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
}

export async function liftFileSizeLimit(pid: number): Promise<void> {
  await run('prlimit', ['--pid', String(pid), '--fsize=unlimited:']);
}
