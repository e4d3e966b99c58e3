/**
 * Identifies a process group by its leader's start time and the machine's boot id, because systems reuse process ids.
 *
 * On Linux both values come from /proc. On macOS `ps -o lstart` gives a date, which needs no boot id. Windows has no
 * process groups.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readProcessGroup, findLivingGroups, readProcessStat } from './find-living-groups.ts';
import { isGroupAlive } from './end-process-group.ts';

interface ProcessIdentity {
  /** The id of the process group. It is the process id of the group's leader. */
  group: number;
  /** The start time of the leader, in the system's format. */
  started: string;
  /** The boot id on Linux. Empty on other systems. */
  boot: string;
}

/**
 * - `gone`: no process of the group runs, or the id now belongs to another group.
 * - `runs`: a process of this group runs.
 * - `unknown`: a group with this id runs, but its leader has ended. So the group may be a different one.
 */
type GroupState = 'gone' | 'runs' | 'unknown';

/**
 * Reads the identity of a child's process group. Returns undefined for a child that has ended, and on Windows.
 * @param leader a child that leads its own process group
 * @throws Error if the system reports an error, e.g. because this process has no free file descriptor
 */
export async function readProcessIdentity(leader: number): Promise<ProcessIdentity | undefined> {
  if (process.platform === 'linux') {
    const stat = readProcessStat(leader);
    if (stat === 'unknown') throw new Error(`the system does not say when process ${leader} started`);
    return stat && { group: leader, started: stat.started, boot: bootId() };
  }
  const started = await startedOf(leader);
  return started === undefined ? undefined : { group: leader, started, boot: '' };
}

/**
 * Returns the state of a process group.
 * @param marker an environment variable, as `NAME=value`, that the processes of this group inherit
 */
export async function readProcessGroupState(
  { group, started, boot }: ProcessIdentity,
  marker: string,
): Promise<GroupState> {
  if (process.platform !== 'linux') {
    const now = await startedOf(group);
    if (now !== undefined) return now === started ? 'runs' : 'gone';
    return (await isGroupAlive(group)) ? 'unknown' : 'gone';
  }
  if (boot !== bootId()) return 'gone';
  const leader = readProcessStat(group);
  if (leader === 'unknown') return 'unknown';
  // The kernel does not reuse the id of a group that still has a process. So a leader with another start time leads
  // another group.
  if (leader !== undefined) return leader.started === started ? 'runs' : 'gone';
  const groups = await findLivingGroups();
  if (groups === undefined) return 'unknown';
  if (!groups.has(group)) return 'gone';
  return membersOf(group).some((member) => environmentOf(member).includes(marker)) ? 'runs' : 'unknown';
}

/**
 * Returns the groups of all processes that inherited the marker. The search reads the environment of each process of
 * this user. So it also finds programs that left the group of their command, such as `timeout` and `setsid`. On systems
 * other than Linux, returns an empty list.
 */
export function findMarkedProcessGroups(marker: string): number[] {
  if (process.platform !== 'linux') return [];
  const groups = readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name) && environmentOf(Number(name)).includes(marker))
    .map((name) => readProcessGroup(Number(name)))
    .filter((group) => typeof group === 'number');
  return [...new Set(groups)];
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

function membersOf(group: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name) && readProcessGroup(Number(name)) === group)
    .map(Number);
}

/**
 * Reads the environment of a process. Returns an empty list for a process of another user, or a process that has just
 * ended.
 */
function environmentOf(id: number): string[] {
  try {
    return readFileSync(`/proc/${id}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function startedOf(id: number): Promise<string | undefined> {
  if (process.platform === 'win32') return Promise.resolve(undefined);
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'lstart=', '-p', String(id)], { env: { LC_ALL: 'C' } }, (error, stdout) => {
      const started = stdout.trim();
      resolve(error !== null || started === '' ? undefined : started);
    });
  });
}
