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
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { Clock } from '../../../shared/clock.ts';
import { codeOf } from '../workspace/file-failure.ts';

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

async function goneWithin(group: number, ms: number, clock: Clock): Promise<boolean> {
  const end = clock.now() + ms;
  while (await isAlive(group)) {
    if (clock.now() >= end) return false;
    await new Promise<void>((resolve) => {
      clock.after(Math.min(LOOK_MS, end - clock.now()), resolve);
    });
  }
  return true;
}

/** @returns false when there is no such group. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // EPERM: it is there, but another user's (sudo), or on macOS only dead processes are left.
    if (codeOf(error) === 'EPERM') return process.platform !== 'darwin';
    if (codeOf(error) === 'ESRCH') return false;
    throw error;
  }
}

/**
 * Whether a process of the group still runs. A dead one that nobody has waited for still counts for kill(2), and in a
 * container whose first process waits for none it stays so for ever; Linux tells such ones apart.
 */
export async function isAlive(group: number): Promise<boolean> {
  if (process.platform === 'win32') return false;
  if (!signalGroup(group, 0)) return false;
  if (process.platform !== 'linux') return true;
  const processes = await readdir('/proc').catch(() => undefined);
  if (processes === undefined) return true;
  for (const id of processes) {
    if (/^\d+$/u.test(id) && (await runsIn(group, id))) return true;
  }
  return false;
}

/**
 * Whether a child has ended although this process may not have been told yet. Answers at once, for what must be decided
 * before a signal is sent; only Linux can say it, elsewhere it is false.
 */
export function hasExited(child: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return isDead(fieldsOf(readFileSync(`/proc/${child}/stat`, 'latin1')).state);
  } catch {
    return true;
  }
}

async function runsIn(group: number, id: string): Promise<boolean> {
  // Gone since the directory was read: then it does not run.
  const { state, leader } = fieldsOf(await readFile(`/proc/${id}/stat`, 'latin1').catch(() => ''));
  return leader === group && !isDead(state);
}

/** See proc(5): pid (comm) state ppid pgrp …, and comm may hold anything, parentheses and spaces too. */
function fieldsOf(stat: string): { state: string; leader: number } {
  const [state = 'X', , leader] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state, leader: Number(leader) };
}

function isDead(state: string): boolean {
  return ['Z', 'X', 'x'].includes(state);
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
