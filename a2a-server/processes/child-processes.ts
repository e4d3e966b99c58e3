/**
 * Records the server's child processes. If a server is killed, the next server can end the children that still run
 * (D6).
 *
 * - Each child leads a process group. Its record is a file in the state directory. The server writes the record before
 *   the child starts its work. It removes the record when the group has ended.
 * - The server does not sync the files to disk, to save time. After a crash of the machine, the children are gone too,
 *   and the boot id shows that their records are old.
 * - A new server ends these orphans: SIGTERM, grace period, SIGKILL. Only one server owns a state directory. So each
 *   record at startup belongs to an ended server.
 * - If the server cannot end an orphan, or cannot distinguish it from another program, it reports the orphan and keeps
 *   its record.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf, ProductError, systemErrorCode } from '../../shared/runtime/errors.ts';
import { CHILD_MARKER } from '../../shared/runtime/hidden-environment.ts';
import { endGroup, endGroups } from './end-process-group.ts';
import { processIdentityOf, markedGroups, processStateOf } from './process-identity.ts';

const childOwner = z.discriminatedUnion('type', [
  z.object({ type: z.literal('tool-execution'), toolId: z.string() }),
  z.object({ type: z.literal('mcp-server'), server: z.string() }),
  z.object({ type: z.literal('acp-agent'), agent: z.string() }),
]);
/** The owner of a child process. */
type ChildOwner = z.infer<typeof childOwner>;

const childRecord = z.object({
  id: z.string(),
  owner: childOwner,
  process: z.object({ group: z.number().int().positive(), started: z.string(), boot: z.string() }),
});
type ChildRecord = z.infer<typeof childRecord>;

/** A child of an earlier server that may still run, because this server could not end it. */
export interface Orphan {
  owner: ChildOwner;
  group: number;
}

/** The record of one child. It exists from before the spawn until the end of the group. */
export interface ChildEntry {
  /** Add this to the child's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Call this directly after the spawn. @throws ProductError STORAGE; then the child must not continue */
  record(leader: number): Promise<void>;
  /** Returns the groups of the child's processes that left its group. */
  strays(): readonly number[];
  /** Call this when the whole group has ended. */
  forget(): void;
}

export interface ChildProcesses {
  entry(owner: ChildOwner): ChildEntry;
  /**
   * Ends the orphans of earlier servers. The first call must come after this server owns the state directory.
   * Concurrent calls share the work. Later calls try the remaining orphans again. @returns the remaining orphans
   */
  endOrphans(): Promise<readonly Orphan[]>;
}

/** For programs without a state directory. It records nothing. */
export const NO_RECORDS: ChildProcesses = {
  entry: () => ({ env: {}, record: () => Promise.resolve(), strays: () => [], forget: () => undefined }),
  endOrphans: () => Promise.resolve([]),
};

interface ChildProcessesOptions {
  /** The directory of the records. The first use creates it. */
  directory: string;
  clock: Clock;
  /** The time between SIGTERM and SIGKILL, in milliseconds. */
  graceMs: number;
  /** Called for each orphan with the result. */
  onOrphan: (orphan: Orphan, end: 'ended' | 'still-there') => void;
}

export function childProcesses(options: ChildProcessesOptions): ChildProcesses {
  const { directory, clock, graceMs, onOrphan } = options;
  const own = new Set<string>();
  let left: readonly ChildRecord[] | undefined;
  let ending: Promise<readonly Orphan[]> | undefined;

  async function endAll(): Promise<readonly Orphan[]> {
    left ??= readable(directory, () => recordsIn(directory)).filter(({ id }) => !own.has(id));
    const kept = await Promise.all(left.map(async (record) => ((await ended(record)) ? [] : [record])));
    left = kept.flat();
    return left.map(orphanOf);
  }

  async function ended(record: ChildRecord): Promise<boolean> {
    const { group } = record.process;
    const state = await processStateOf(record.process, `${CHILD_MARKER}=${record.id}`);
    const strays = (): number[] =>
      markedGroups(`${CHILD_MARKER}=${record.id}`).filter((stray) => stray !== group);
    const found = strays().length > 0;
    const limits = { graceMs, clock };
    const [end] = await Promise.all([
      state === 'runs' ? endGroup(group, limits).catch(() => 'unconfirmed' as const) : 'gone',
      endGroups(strays, limits),
    ]);
    // A program may have left the group during its end.
    const over = (await endGroups(strays, limits)) && state !== 'unknown' && end !== 'unconfirmed';
    if (state !== 'gone' || found) onOrphan(orphanOf(record), over ? 'ended' : 'still-there');
    if (over) rmSync(pathOf(directory, record.id), { force: true });
    return over;
  }

  return {
    entry(owner) {
      const id = randomUUID();
      let leaderGroup: number | undefined;
      return {
        env: { [CHILD_MARKER]: id },
        record: (leader) =>
          recording(directory, async () => {
            leaderGroup = leader;
            own.add(id);
            const identity = await processIdentityOf(leader);
            if (identity !== undefined) write(directory, { id, owner, process: identity });
          }),
        strays: () => markedGroups(`${CHILD_MARKER}=${id}`).filter((group) => group !== leaderGroup),
        forget() {
          own.delete(id);
          rmSync(pathOf(directory, id), { force: true });
        },
      };
    },
    endOrphans() {
      if (left?.length === 0) return Promise.resolve([]);
      return (ending ??= endAll().finally(() => (ending = undefined)));
    },
  };
}

function orphanOf({ owner, process: { group } }: ChildRecord): Orphan {
  return { owner, group };
}

function pathOf(directory: string, id: string): string {
  return join(directory, `${id}.json`);
}

function write(directory: string, record: ChildRecord): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(pathOf(directory, record.id), JSON.stringify(record), { mode: 0o600 });
}

async function recording(directory: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new ProductError(
      'STORAGE',
      `The process could not be recorded in ${directory} (${messageOf(cause)}), so it was not started. Free some space on that disk, then try again.`,
      { cause },
    );
  }
}

function recordsIn(directory: string): ChildRecord[] {
  return namesIn(directory).flatMap((name) => {
    const path = join(directory, name);
    const record = childRecord.safeParse(parsed(readFileSync(path, 'utf8')));
    if (record.success) return [record.data];
    // The record is incomplete, so the server was killed during the write. The child never started its work.
    rmSync(path, { force: true });
    return [];
  });
}

function readable<T>(directory: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new ProductError(
      'STORAGE',
      `The records of running processes in ${directory} cannot be read (${messageOf(cause)}). Make the directory readable for this user. Then the tasks continue.`,
      { cause },
    );
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith('.json'));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
