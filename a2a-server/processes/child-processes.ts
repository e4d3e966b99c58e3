/**
 * Records the server's child processes, so that the next server can end those a killed server left running (D6).
 *
 * - Each child leads a process group. Its record is a file in the state directory. It is written before the child may
 *   act and removed when its group has ended. A killed server leaves the records of its living children.
 * - The files are not synced to disk, which saves time. After a crash of the machine the children are gone too, and
 *   the boot id shows that their records are old.
 * - A new server ends these orphans: SIGTERM, grace period, SIGKILL. Only one server owns a state directory, so no
 *   record found at startup belongs to a living server.
 * - An orphan stays recorded and is reported if it cannot be ended, or cannot be distinguished from another program's
 *   process.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf, ProductError, systemErrorCode } from '../../shared/runtime/errors.ts';
import { CHILD_MARKER } from '../../shared/runtime/hidden-environment.ts';
import { endGroup, endGroups } from './process-group.ts';
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

/** A child of an earlier server that may still run and could not be ended. */
export interface Orphan {
  owner: ChildOwner;
  group: number;
}

/** The record of one child, from before its spawn until its group has ended. */
export interface ChildEntry {
  /** Add this to the child's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Call this right after the spawn. @throws ProductError STORAGE; the child must not continue then. */
  record(leader: number): Promise<void>;
  /** The groups of the child's processes that left its own group. */
  strays(): readonly number[];
  /** Call this when the whole group has ended. */
  forget(): void;
}

export interface ChildProcesses {
  entry(owner: ChildOwner): ChildEntry;
  /**
   * Ends the orphans of earlier servers. Call it first when this server owns the state directory. Concurrent calls
   * share the work. Later calls retry the remaining orphans. @returns the orphans that remain
   */
  endOrphans(): Promise<readonly Orphan[]>;
}

/** For programs without a state directory. It records nothing. */
export const NO_RECORDS: ChildProcesses = {
  entry: () => ({ env: {}, record: () => Promise.resolve(), strays: () => [], forget: () => undefined }),
  endOrphans: () => Promise.resolve([]),
};

interface ChildProcessesOptions {
  /** The directory of the records; created on first use. */
  directory: string;
  clock: Clock;
  /** Between SIGTERM and SIGKILL, in milliseconds. */
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
    // A program may have left the group while the group was ended.
    const over = (await endGroups(strays, limits)) && state !== 'unknown' && end !== 'unconfirmed';
    if (state !== 'gone' || found) onOrphan(orphanOf(record), over ? 'ended' : 'still-there');
    if (over) rmSync(pathOf(directory, record.id), { force: true });
    return over;
  }

  return {
    entry(owner) {
      const id = randomUUID();
      let leaderGroup: number | undefined;
      own.add(id);
      return {
        env: { [CHILD_MARKER]: id },
        record: (leader) =>
          recording(directory, async () => {
            leaderGroup = leader;
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
    // The server was killed while it wrote this record, so the child never started its work.
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
      `The records of running processes in ${directory} cannot be read (${messageOf(cause)}). Make the directory readable for this user; the tasks go on then.`,
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
