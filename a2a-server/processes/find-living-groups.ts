/**
 * Finds the process groups with a running process, from /proc on Linux. Concurrent callers share scans, so a stop of a
 * hundred commands needs only a few scans.
 */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorCode } from '../../shared/runtime/errors.ts';
import { parseProcessStat, type ProcessStat } from '../../shared/runtime/process-stat.ts';

/** The number of processes to read per event-loop turn. Reading them takes less than a millisecond. */
const PROCESSES_PER_TURN = 64;

/** Maps a group id to one of its running processes. */
type LivingGroups = ReadonlyMap<number, number>;

let begun: Promise<LivingGroups | undefined> | undefined;
let next: Promise<LivingGroups | undefined> | undefined;

/** Returns the result of a scan that starts after this call. Returns undefined if the system cannot list processes. */
export function findLivingGroups(): Promise<LivingGroups | undefined> {
  if (begun === undefined) return (begun = scanProcesses().finally(() => (begun = undefined)));
  // A running scan may have missed recent changes, so a new scan starts after it.
  return (next ??= begun.then(() => {
    next = undefined;
    return findLivingGroups();
  }));
}

async function scanProcesses(): Promise<LivingGroups | undefined> {
  const processes = await readdir('/proc').catch(() => undefined);
  if (processes === undefined) return undefined;
  const groups = new Map<number, number>();
  const ids = processes.filter((name) => /^\d+$/u.test(name)).map(Number);
  for (const [index, id] of ids.entries()) {
    const group = readProcessGroup(id);
    if (group === 'unknown') return undefined;
    if (group !== undefined) groups.set(group, id);
    if (index % PROCESSES_PER_TURN === PROCESSES_PER_TURN - 1) await nextTurn();
  }
  return groups;
}

/**
 * Returns the group of a running process. Returns undefined for a dead process or a zombie. Returns `unknown` if the
 * system reports an error, e.g. because this process has no free file descriptor.
 */
export function readProcessGroup(id: number): number | undefined | 'unknown' {
  const found = readProcessStat(id);
  return typeof found === 'object' ? found.group : found;
}

/**
 * Returns the /proc data of a running process. Undefined and `unknown` have the same meaning as in `readProcessGroup`.
 */
export function readProcessStat(id: number): ProcessStat | undefined | 'unknown' {
  try {
    const stat = parseProcessStat(readFileSync(`/proc/${id}/stat`, 'latin1'));
    return stat.ended ? undefined : stat;
  } catch (error) {
    return ['ENOENT', 'ESRCH'].includes(errorCode(error) ?? '') ? undefined : 'unknown';
  }
}
