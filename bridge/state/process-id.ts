/** Identifies one run of one process. So a process with a reused pid counts as another process. */
import { readFile } from 'node:fs/promises';

/** `<pid>-<start>`, in characters that are valid in a file name. */
export type ProcessId = string;

const FORM = /^(\d+)-([0-9a-z]+)$/;
/** For platforms that do not report when a process started. */
const UNKNOWN_START = 'x';
/** A zombie: its parent has not read its exit code yet. */
const ENDED = 'ended';

export async function ownProcessId(): Promise<ProcessId> {
  return `${String(process.pid)}-${await startOf(process.pid)}`;
}

/**
 * Whether this run of the process still runs. If that is uncertain, the answer is yes, because no one may take work
 * from a running process.
 */
export async function isRunning(id: ProcessId): Promise<boolean> {
  const [, pid, start] = FORM.exec(id) ?? [];
  if (pid === undefined || !isProcess(Number(pid))) return false;
  const now = await startOf(Number(pid));
  if (now === ENDED) return false;
  return now === UNKNOWN_START || start === UNKNOWN_START || now === start;
}

/** Whether any process has that pid. */
export function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs as another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Whether a process of this user has that pid. A process of another user has reused the pid (EPERM). */
export function isProcessOfThisUser(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** proc(5): field 22 of /proc/<pid>/stat is the start, in clock ticks since the boot that `boot_id` names. */
async function startOf(pid: number): Promise<string> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${String(pid)}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ]);
    // The second field, the command, is in parentheses and may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // proc(5): field 3 is the state, Z for a zombie and X for a dead process.
    if (fields[0] === 'Z' || fields[0] === 'X') return ENDED;
    const ticks = fields[19];
    return ticks === undefined ? UNKNOWN_START : `${boot.slice(0, 8)}${Number(ticks).toString(36)}`;
  } catch {
    return UNKNOWN_START;
  }
}
