/**
 * The processes a command has started, as far as they stayed in its group (A2, R43).
 *
 * A group is led by the shell that was spawned `detached`; its id is that shell's process id. The system says nothing when
 * the last process of a group ends, so ending one means looking, every 20 ms, for as long as it takes. A program that
 * leaves the group on purpose (setsid, a daemon) has left the tool execution too.
 *
 * Windows has no groups: there the tree below the shell is killed at once, by taskkill.
 */
import { execFile } from 'node:child_process';
import type { Clock } from '../../shared/runtime/clock.ts';
import { systemErrorCode } from '../../shared/runtime/system-error.ts';
import { groupOf, livingGroups } from './living-groups.ts';

const LOOK_MS = 20;
/** A killed process is gone at once, unless it hangs in the kernel; then nobody can end it. */
const KILLED_MS = 2000;

/** How a group ended: before it could be told to, by SIGTERM, by SIGKILL, or not as far as could be seen. */
export type GroupEnd = 'gone' | 'terminated' | 'killed' | 'unconfirmed';

export interface EndOptions {
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  graceMs: number;
  clock: Clock;
}

/** Ends every process of the group that is still there. */
export async function endGroup(group: number, { graceMs, clock }: EndOptions): Promise<GroupEnd> {
  if (process.platform === 'win32') return endTree(group);
  // Before anything that takes time (A2).
  if (!signalGroup(group, 'SIGTERM')) return 'gone';
  if (await goneWithin(group, graceMs, clock)) return 'terminated';
  signalGroup(group, 'SIGKILL');
  return (await goneWithin(group, KILLED_MS, clock)) ? 'killed' : 'unconfirmed';
}

/**
 * Whether no process of the group runs any more, within `ms`; 0 looks once. Counts on a timer, not on the time of day: a
 * clock that is set neither kills early nor spares.
 */
export async function goneWithin(group: number, ms: number, clock: Clock): Promise<boolean> {
  if (ms === 0) return !(await isAlive(group));
  let wake: (() => void) | undefined;
  let over = false;
  const callOff = clock.after(ms, () => {
    over = true;
    wake?.();
  });
  try {
    for (let member = await runningIn(group); member !== undefined; member = await runningIn(group, member)) {
      if (over) return false;
      await new Promise<void>((resolve) => {
        const callOffLook = clock.after(LOOK_MS, resolve);
        wake = () => {
          callOffLook();
          resolve();
        };
      });
    }
    return true;
  } finally {
    callOff();
  }
}

/** @returns false when there is no such group. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // EPERM: it is there, but another user's (sudo), or on macOS only dead processes are left.
    if (systemErrorCode(error) === 'EPERM') return process.platform !== 'darwin';
    if (systemErrorCode(error) === 'ESRCH') return false;
    throw error;
  }
}

/** Whether a process of the group still runs. */
export async function isAlive(group: number): Promise<boolean> {
  return (await runningIn(group)) !== undefined;
}

/**
 * A process of the group that still runs. A dead one that nobody has waited for still counts for kill(2), and in a
 * container whose first process waits for none it stays so for ever; Linux tells such ones apart.
 * @param known one that ran when last looked at: while it does, nothing else needs to be.
 */
async function runningIn(group: number, known = group): Promise<number | undefined> {
  if (process.platform === 'win32' || !signalGroup(group, 0)) return undefined;
  if (process.platform !== 'linux' || groupOf(known) === group) return known;
  const living = await livingGroups();
  return living === undefined ? known : living.get(group);
}

/**
 * Whether a child has ended although this process may not have been told yet. Answers at once, for what must be decided
 * before a signal is sent; only Linux can say it, elsewhere it is false.
 */
export function hasExited(child: number): boolean {
  return process.platform === 'linux' && groupOf(child) === undefined;
}

function endTree(root: number): Promise<GroupEnd> {
  return new Promise((resolve) => {
    execFile('taskkill', ['/pid', String(root), '/T', '/F'], (error) => {
      // 128: no such process.
      if (error === null) resolve('killed');
      else resolve(error.code === 128 ? 'gone' : 'unconfirmed');
    });
  });
}
