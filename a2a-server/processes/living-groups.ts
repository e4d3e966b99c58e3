/**
 * Which process groups have a process that runs, as Linux tells it below /proc. Whoever asks at the same time shares one
 * look: a hundred commands that are stopped at once cost what one does.
 */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemErrorCode } from '../../shared/runtime/system-error.ts';

/** Processes looked at before others get their turn: less than a millisecond's work. */
const AT_ONCE = 64;

/** A group's id, and a process of it that runs. */
export type LivingGroups = ReadonlyMap<number, number>;

let begun: Promise<LivingGroups | undefined> | undefined;
let next: Promise<LivingGroups | undefined> | undefined;

/** @returns what a look says that began after this was called; undefined where the system does not say. */
export function livingGroups(): Promise<LivingGroups | undefined> {
  if (begun === undefined) return (begun = look().finally(() => (begun = undefined)));
  // One that is under way may have passed by what has happened since.
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
 * The group of a process that runs; undefined for a dead one, waited for or not; `unknown` where the system does not say,
 * e.g. while this process has no file descriptor to spare.
 */
export function groupOf(id: number): number | undefined | 'unknown' {
  const found = processStat(id);
  return typeof found === 'object' ? found.group : found;
}

export interface ProcessStat {
  group: number;
  /** When it started: clock ticks since the machine booted. */
  started: string;
}

/** What Linux says of a process that runs; undefined and `unknown` as for `groupOf`. */
export function processStat(id: number): ProcessStat | undefined | 'unknown' {
  try {
    // See proc(5): pid (comm) state ppid pgrp …, and comm may hold anything, parentheses and spaces too.
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
