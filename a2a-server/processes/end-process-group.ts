/**
 * Ends the process group of a command (A2, R43).
 *
 * The group's leader is the shell, spawned `detached`. The group id is the shell's process id. The system does not
 * report the end of a group's last process, so the server checks every 20 ms. If a program leaves the group (`timeout`,
 * `setsid`, a daemon), it has its own group: see `markedGroups`.
 *
 * Windows has no process groups. There, taskkill ends the process tree at once.
 */
import { execFile } from 'node:child_process';
import type { Clock } from '../../shared/runtime/clock.ts';
import { systemErrorCode } from '../../shared/runtime/errors.ts';
import { groupOf, livingGroups } from './living-groups.ts';

const LOOK_MS = 20;
/**
 * The time to wait for the end of the group after SIGKILL, in milliseconds. A killed process ends at once, unless it
 * hangs in the kernel.
 */
const KILLED_MS = 2000;

/** The end of a group: before any signal, by SIGTERM, by SIGKILL, or not confirmed. */
export type GroupEnd = 'gone' | 'terminated' | 'killed' | 'unconfirmed';

interface EndOptions {
  /** The time between SIGTERM and SIGKILL, in milliseconds. */
  graceMs: number;
  clock: Clock;
}

/** Ends all remaining processes of the group. */
export async function endGroup(group: number, { graceMs, clock }: EndOptions): Promise<GroupEnd> {
  if (process.platform === 'win32') return endTree(group);
  // Send the signal before any slow work (A2).
  if (!signalGroup(group, 'SIGTERM')) return 'gone';
  if (await hasEndedWithin(group, graceMs, clock)) return 'terminated';
  signalGroup(group, 'SIGKILL');
  return (await hasEndedWithin(group, KILLED_MS, clock)) ? 'killed' : 'unconfirmed';
}

/**
 * Maximum number of rounds to end groups. A program may start more groups during the end of its own group. After the
 * last round, the end is unconfirmed.
 */
const MOST_ROUNDS = 5;

/**
 * Ends groups until `find` finds none.
 * @returns false if a group may still run, or if new groups still appear after the last round
 */
export async function endGroups(find: () => readonly number[], options: EndOptions): Promise<boolean> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const groups = find();
    if (groups.length === 0) return true;
    const ends = await Promise.all(
      groups.map((group) => endGroup(group, options).catch(() => 'unconfirmed' as const)),
    );
    if (ends.includes('unconfirmed')) return false;
  }
  return find().length === 0;
}

/**
 * True if all processes of the group end within `ms`. With 0 it checks once. It uses a timer and not the time of day,
 * so a clock change has no effect.
 */
export async function hasEndedWithin(group: number, ms: number, clock: Clock): Promise<boolean> {
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

/** @returns false if the group does not exist */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // EPERM: the group belongs to another user (sudo), or on macOS has only zombies.
    if (systemErrorCode(error) === 'EPERM') return process.platform !== 'darwin';
    if (systemErrorCode(error) === 'ESRCH') return false;
    throw error;
  }
}

/** True if a process of the group still runs. */
export async function isAlive(group: number): Promise<boolean> {
  return (await runningIn(group)) !== undefined;
}

/**
 * Returns a running process of the group. kill(2) also finds zombies. If the init process of a container does not reap
 * zombies, they stay forever. On Linux, /proc identifies zombies.
 * @param known a process that ran at the last check. While it runs, no scan of /proc is needed.
 */
async function runningIn(group: number, known = group): Promise<number | undefined> {
  if (process.platform === 'win32' || !signalGroup(group, 0)) return undefined;
  if (process.platform !== 'linux' || groupOf(known) === group) return known;
  const living = await livingGroups();
  return living === undefined ? known : living.get(group);
}

/**
 * True if a child has exited, even if Node has not reported the exit yet. The check is synchronous, so that nothing can
 * happen between the check and a signal of the caller. On other systems than Linux it is always false.
 */
export function hasExited(child: number): boolean {
  return process.platform === 'linux' && groupOf(child) === undefined;
}

function endTree(root: number): Promise<GroupEnd> {
  return new Promise((resolve) => {
    execFile('taskkill', ['/pid', String(root), '/T', '/F'], (error) => {
      // Exit code 128 of taskkill means: no such process.
      if (error === null) resolve('killed');
      else resolve(error.code === 128 ? 'gone' : 'unconfirmed');
    });
  });
}
