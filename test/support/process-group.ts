/** Counts the running processes of a process group. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** @returns the number of running processes in the group, without zombies */
export async function runningProcesses(group: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pgid=,stat=']);
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/));
  return rows.filter(([id, state]) => Number(id) === group && !state?.startsWith('Z')).length;
}
