/** The processes of a group, as the system tells of them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** @returns how many processes of the group still run; dead ones that nobody has waited for are not counted. */
export async function running(group: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pgid=,stat=']);
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/));
  return rows.filter(([id, state]) => Number(id) === group && !state?.startsWith('Z')).length;
}
