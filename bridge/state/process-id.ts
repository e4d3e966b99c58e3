/**
 * Identifies one run of a process by its pid and its start time. If another process gets the same pid later, it has
 * another id.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { errorCode } from '../../shared/runtime/errors.ts';
import { parseProcessStat } from '../../shared/runtime/process-stat.ts';

/** The id of a process: `<pid>-<start>`. All characters are valid in a file name. */
export type ProcessId = string;

const PROCESS_ID = /^(\d+)-([0-9a-z]+)$/;
/** The start time on platforms that do not report it. */
const UNKNOWN_START = 'x';

export async function ownProcessId(): Promise<ProcessId> {
  return `${String(process.pid)}-${await startOf(process.pid)}`;
}

/**
 * Returns true if this run of the process still exists. Also returns true if that is uncertain, because no bridge may
 * take work from a running process.
 */
export async function isProcessRunning(id: ProcessId): Promise<boolean> {
  const [, pid, start] = PROCESS_ID.exec(id) ?? [];
  if (pid === undefined || !isPidInUse(Number(pid))) return false;
  const now = await startOf(Number(pid));
  return now === UNKNOWN_START || start === UNKNOWN_START || now === start;
}

/** Returns true if a running process has this pid. The process may belong to another user. */
export function isPidInUse(pid: number): boolean {
  const refused = refusalOfSignal(pid);
  return (refused === undefined || refused === 'EPERM') && !isZombie(pid);
}

/**
 * Returns true if a running process of this user has this pid. A process of another user does not count, because it has
 * reused the pid.
 */
export function isProcessOfThisUser(pid: number): boolean {
  return refusalOfSignal(pid) === undefined && !isZombie(pid);
}

/**
 * Checks whether this process could send a signal to the process with this pid.
 * @returns undefined if it could; ESRCH if no process has this pid; EPERM if a process of another user has it
 */
function refusalOfSignal(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    return undefined;
  } catch (error) {
    return errorCode(error) ?? 'ESRCH';
  }
}

/**
 * Returns true for a process that has ended, but whose exit code its parent has not read yet. In a container whose
 * first process reads no exit codes, the process keeps its pid, and stays in this state.
 */
function isZombie(pid: number): boolean {
  try {
    return parseProcessStat(readFileSync(`/proc/${String(pid)}/stat`, 'latin1')).ended;
  } catch {
    // The platform has no /proc, or the process has just ended.
    return false;
  }
}

/**
 * Returns the start time of a process: the first characters of the id of the machine's boot, and the clock ticks from
 * that boot to the start.
 */
async function startOf(pid: number): Promise<string> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${String(pid)}/stat`, 'latin1'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ]);
    const { started } = parseProcessStat(stat);
    return started === '' ? UNKNOWN_START : `${boot.slice(0, 8)}${Number(started).toString(36)}`;
  } catch {
    return UNKNOWN_START;
  }
}
