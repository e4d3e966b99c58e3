/** Describes the commit and the machine of a run, without anything that identifies the owner of the machine. */
import { execFile } from 'node:child_process';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { promisify } from 'node:util';

export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = Math.round(totalmem() / 1024 ** 3);
  const [load = 0] = loadavg();
  return `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores (${model}), ${memory} GB, load ${load.toFixed(1)} at the end`;
}

/** @returns the short id of the commit, with `+` if the work tree has changes; undefined outside a git repository */
export async function commit(): Promise<string | undefined> {
  const git = promisify(execFile);
  try {
    const { stdout } = await git('git', ['describe', '--always', '--exclude=*', '--dirty=+']);
    return stdout.trim();
  } catch {
    return undefined;
  }
}
