/**
 * Finds the process groups with a running process, from /proc on Linux. Concurrent callers share one scan, so
 * stopping a hundred commands costs one scan.
 */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemErrorCode } from '../../shared/runtime/errors.ts';

/** Processes read per event-loop turn: less than a millisecond of work. */
const AT_ONCE = 64;

/** Maps a group id to one of its running processes. */
type LivingGroups = ReadonlyMap<number, number>;

let begun: Promise<LivingGroups | undefined> | undefined;
let next: Promise<LivingGroups | undefined> | undefined;

/** @returns the result of a scan that starts after this call; undefined if the system does not tell */
export function livingGroups(): Promise<LivingGroups | undefined> {
  if (begun === undefined) return (begun = look().finally(() => (begun = undefined)));
  // A scan in progress may have missed recent changes.
  return (next ??= begun.then(() => {
    next = undefined;
    return livingGroups();
  }));
}

async function look(): Promise<LivingGroups | undefined> {
  const processes = await readdir('/proc').catch(() => undefined);
  if (processes === undefined) return undefined;
  const groups = new Map<number, number>();
  const ids = processes.filter((name) => /^\d+$/u.test(name)).map(Number);
  for (const [index, id] of ids.entries()) {
    const group = groupOf(id);
    if (group === 'unknown') return undefined;
    if (group !== undefined) groups.set(group, id);
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
  }
  return groups;
}

/**
 * The group of a running process. Undefined for a dead one or a zombie. `unknown` if the system does not tell, e.g.
 * when this process has no free file descriptor.
 */
export function groupOf(id: number): number | undefined | 'unknown' {
  const found = processStat(id);
  return typeof found === 'object' ? found.group : found;
}

interface ProcessStat {
  group: number;
  /** When it started: clock ticks since the machine booted. */
  started: string;
}

/** The /proc data of a running process. Undefined and `unknown` as for `groupOf`. */
export function processStat(id: number): ProcessStat | undefined | 'unknown' {
  try {
    // See proc(5): pid (comm) state ppid pgrp …; comm may contain any character, even parentheses and spaces.
    const stat = readFileSync(`/proc/${id}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = 'X', , group] = fields;
    if (['Z', 'X', 'x'].includes(state)) return undefined;
    // Field 22 of the line; `state` is field 3.
    return { group: Number(group), started: fields[19] ?? '' };
  } catch (error) {
    return ['ENOENT', 'ESRCH'].includes(systemErrorCode(error) ?? '') ? undefined : 'unknown';
  }
}
