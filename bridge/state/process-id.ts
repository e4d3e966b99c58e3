/**
 * Identifies one run of a process by its pid and its start time. If another process gets the same pid later, it has
 * another id.
 */
import { readFile } from 'node:fs/promises';

/** The id of a process: `<pid>-<start>`. All characters are valid in a file name. */
export type ProcessId = string;

const PROCESS_ID = /^(\d+)-([0-9a-z]+)$/;
/** The start time on platforms that do not report it. */
const UNKNOWN_START = 'x';
/** The start time of a zombie: a process that has ended, but whose exit code its parent has not read yet. */
const ENDED = 'ended';

export async function ownProcessId(): Promise<ProcessId> {
  return `${String(process.pid)}-${await startOf(process.pid)}`;
}

/**
 * Returns true if this run of the process still exists. Also returns true if that is uncertain, because no bridge may
 * take work from a running process.
 */
export async function isRunning(id: ProcessId): Promise<boolean> {
  const [, pid, start] = PROCESS_ID.exec(id) ?? [];
  if (pid === undefined || !isPidInUse(Number(pid))) return false;
  const now = await startOf(Number(pid));
  if (now === ENDED) return false;
  return now === UNKNOWN_START || start === UNKNOWN_START || now === start;
}

/** Returns true if any process has this pid. */
export function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Returns true if a process of this user has this pid. A process of another user does not count, because it has reused
 * the pid.
 */
export function isProcessOfThisUser(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the start time of a process. proc(5): field 22 of /proc/<pid>/stat is the start in clock ticks since the boot
 * `boot_id`.
 */
async function startOf(pid: number): Promise<string> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${String(pid)}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ]);
    // The second field is the command in parentheses. It may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // proc(5): field 3 is the state of the process: Z for a zombie, X for a dead process.
    if (fields[0] === 'Z' || fields[0] === 'X') return ENDED;
    const ticks = fields[19];
    return ticks === undefined ? UNKNOWN_START : `${boot.slice(0, 8)}${Number(ticks).toString(36)}`;
  } catch {
    return UNKNOWN_START;
  }
}
