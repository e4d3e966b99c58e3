/**
 * A2: ends the process group of a command with SIGTERM, a grace period, then SIGKILL.
 *
 * The group's leader is the shell, so the group id is the shell's process id. The system does not report the end of a
 * group's last process, so the server checks every 20 ms. A program can leave the group (`timeout`, `setsid`, a
 * daemon). `findMarkedProcessGroups` finds such a program.
 *
 * Windows has no process groups. There, taskkill ends the process tree at once.
 */
import { execFile } from 'node:child_process';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorCode } from '../../shared/runtime/errors.ts';
import { readProcessGroup, findLivingGroups } from './find-living-groups.ts';

const CHECK_INTERVAL_MS = 20;
/**
 * The longest time for the group to end after SIGKILL. A killed process ends at once, unless it hangs in the kernel.
 */
const KILLED_MS = 2000;

/**
 * The way in which a group ended: `gone` before any signal, `terminated` by SIGTERM, `killed` by SIGKILL. With
 * `unconfirmed`, the group may still run.
 */
export type GroupEndResult = 'gone' | 'terminated' | 'killed' | 'unconfirmed';

interface EndOptions {
  graceMs: number;
  clock: Clock;
}

export async function endProcessGroup(
  group: number,
  { graceMs, clock }: EndOptions,
): Promise<GroupEndResult> {
  if (process.platform === 'win32') return endTree(group);
  // A2: an abort sends its signal at once, before any slow work.
  if (!signalGroup(group, 'SIGTERM')) return 'gone';
  if (await hasGroupEndedWithin(group, graceMs, clock)) return 'terminated';
  signalGroup(group, 'SIGKILL');
  return (await hasGroupEndedWithin(group, KILLED_MS, clock)) ? 'killed' : 'unconfirmed';
}

/**
 * The maximum number of searches for groups. A program may start new groups while its group ends. So
 * `endFoundProcessGroups` searches again.
 */
const MAX_ROUNDS = 5;

/**
 * Ends groups until `find` finds none. Returns false if a group may still run, or if new groups still appear after the
 * last round.
 */
export async function endFoundProcessGroups(
  find: () => readonly number[],
  options: EndOptions,
): Promise<boolean> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const groups = find();
    if (groups.length === 0) return true;
    const ends = await Promise.all(
      groups.map((group) => endProcessGroup(group, options).catch(() => 'unconfirmed' as const)),
    );
    if (ends.includes('unconfirmed')) return false;
  }
  return find().length === 0;
}

/**
 * Returns true if all processes of the group end within `ms`. With 0, checks once. A change of the system's clock has
 * no effect, because the function uses a timer.
 */
export async function hasGroupEndedWithin(group: number, ms: number, clock: Clock): Promise<boolean> {
  if (ms === 0) return !(await isGroupAlive(group));
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
        const callOffLook = clock.after(CHECK_INTERVAL_MS, resolve);
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

/** Sends the signal to the group. Returns false if the group does not exist. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // EPERM: the group exists and belongs to another user (sudo). On macOS, a group of zombies also gives EPERM. So
    // there, the group counts as ended.
    if (errorCode(error) === 'EPERM') return process.platform !== 'darwin';
    if (errorCode(error) === 'ESRCH') return false;
    throw error;
  }
}

export async function isGroupAlive(group: number): Promise<boolean> {
  return (await runningIn(group)) !== undefined;
}

/**
 * Returns a running process of the group. kill(2) also finds zombies, and some containers never remove zombies. On
 * Linux, /proc identifies zombies.
 * @param known a process that ran at the last check. While it runs, no scan of /proc is needed.
 */
async function runningIn(group: number, known = group): Promise<number | undefined> {
  if (process.platform === 'win32' || !signalGroup(group, 0)) return undefined;
  if (process.platform !== 'linux' || readProcessGroup(known) === group) return known;
  const living = await findLivingGroups();
  return living === undefined ? known : living.get(group);
}

/**
 * Returns true if a child has exited, even if Node has not reported the exit yet. The check is synchronous. So a caller
 * that checks at once after an abort knows whether the child had exited before. On other systems than Linux, always
 * returns false.
 */
export function hasExited(child: number): boolean {
  return process.platform === 'linux' && readProcessGroup(child) === undefined;
}

function endTree(root: number): Promise<GroupEndResult> {
  return new Promise((resolve) => {
    execFile('taskkill', ['/pid', String(root), '/T', '/F'], (error) => {
      // Exit code 128 of taskkill means that there is no such process.
      if (error === null) resolve('killed');
      else resolve(error.code === 128 ? 'gone' : 'unconfirmed');
    });
  });
}
