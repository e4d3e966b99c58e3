/** Identifies one run of a process, so that a process with a reused pid counts as another one. */
import { readFile } from 'node:fs/promises';

/** `<pid>-<start>`, in characters that are valid in a file name. */
export type ProcessId = string;

const FORM = /^(\d+)-([0-9a-z]+)$/;
/** Used on platforms that do not report the start of a process. */
const UNKNOWN_START = 'x';
/** Marks a zombie, whose parent has not read its exit code yet. */
const ENDED = 'ended';

export async function ownProcessId(): Promise<ProcessId> {
  return `${String(process.pid)}-${await startOf(process.pid)}`;
}

/**
 * Returns whether this run of the process is still alive. If that is uncertain, returns true, because no bridge may
 * take work from a running process.
 */
export async function isRunning(id: ProcessId): Promise<boolean> {
  const [, pid, start] = FORM.exec(id) ?? [];
  if (pid === undefined || !isPidInUse(Number(pid))) return false;
  const now = await startOf(Number(pid));
  if (now === ENDED) return false;
  return now === UNKNOWN_START || start === UNKNOWN_START || now === start;
}

/** Returns true if any process has that pid. */
export function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Returns true if a process of this user has that pid. For EPERM it returns false, because another user's process has
 * reused the pid.
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
    // The second field is the command in parentheses, which may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // proc(5): field 3 is the state, Z for a zombie and X for a dead process.
    if (fields[0] === 'Z' || fields[0] === 'X') return ENDED;
    const ticks = fields[19];
    return ticks === undefined ? UNKNOWN_START : `${boot.slice(0, 8)}${Number(ticks).toString(36)}`;
  } catch {
    return UNKNOWN_START;
  }
}
