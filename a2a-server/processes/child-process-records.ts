/**
 * Records the server's child processes. If a server is killed, the next server ends the children that still run. D6: a
 * tool call whose process may still run is not offered for another run.
 *
 * - Each child leads a process group. Its record is a file in the state directory. The server writes the record before
 *   the child runs its command. It deletes the record when the group has ended.
 * - The server does not sync the files to disk, to save time. A crash of the machine also ends the children. The boot
 *   id then shows that their records are old.
 * - A new server ends these children: SIGTERM, grace period, SIGKILL. Only one server uses a state directory. So each
 *   record at startup belongs to a server that has ended.
 * - If the server cannot end such a child, or cannot distinguish it from another program, it reports the child and
 *   keeps its record.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorMessageOf, ProductError, errorCode } from '../../shared/runtime/errors.ts';
import { CHILD_MARKER } from '../../shared/runtime/hide-proc-environ.ts';
import { parseJson } from '../../shared/text/parse-json.ts';
import { endProcessGroup, endFoundProcessGroups } from './end-process-group.ts';
import { readProcessIdentity, findMarkedProcessGroups, readProcessGroupState } from './process-identity.ts';

const childOwner = z.discriminatedUnion('type', [
  z.object({ type: z.literal('tool-execution'), toolId: z.string() }),
  z.object({ type: z.literal('mcp-server'), server: z.string() }),
  z.object({ type: z.literal('acp-agent'), agent: z.string() }),
]);
type ChildOwner = z.infer<typeof childOwner>;

const childRecord = z.object({
  id: z.string(),
  owner: childOwner,
  process: z.object({ group: z.number().int().positive(), started: z.string(), boot: z.string() }),
});
type ChildRecord = z.infer<typeof childRecord>;

/** A child of an earlier server. The child may still run. */
export interface OrphanProcess {
  owner: ChildOwner;
  group: number;
}

/** The record of one child, from before its start until the end of its process group. */
export interface ChildProcessTracker {
  /** The caller must add these variables to the child's environment. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Records the process id of the child. Must be called directly after the start of the child. If the record fails, ends
   * the child, because the next server could not find it.
   * @throws ProductError STORAGE
   */
  record(leader: number): Promise<void>;
  /** Returns the process groups of descendants that left the child's group. */
  strays(): readonly number[];
  /** Deletes the record. Must be called when the whole process group has ended. */
  forget(): void;
}

export interface ChildProcessRecords {
  entry(owner: ChildOwner): ChildProcessTracker;
  /**
   * Ends the children of earlier servers. Returns the children that may still run. The first call must come after this
   * server has locked the state directory. Concurrent calls share one run. Later calls try the remaining children
   * again.
   */
  endOrphans(): Promise<readonly OrphanProcess[]>;
}

/** Records nothing. For programs without a state directory. */
export const NO_CHILD_RECORDS: ChildProcessRecords = {
  entry: () => ({ env: {}, record: () => Promise.resolve(), strays: () => [], forget: () => undefined }),
  endOrphans: () => Promise.resolve([]),
};

interface ChildProcessRecordsOptions {
  /** The directory of the records. The first use creates it. */
  directory: string;
  clock: Clock;
  graceMs: number;
  /** Called for each process that an earlier server left behind, after the attempt to end it. */
  onOrphan: (orphan: OrphanProcess, end: 'ended' | 'still-there') => void;
}

export function createChildProcessRecords(options: ChildProcessRecordsOptions): ChildProcessRecords {
  const { directory, clock, graceMs, onOrphan } = options;
  const own = new Set<string>();
  let left: readonly ChildRecord[] | undefined;
  let ending: Promise<readonly OrphanProcess[]> | undefined;

  async function endAll(): Promise<readonly OrphanProcess[]> {
    left ??= readOrStorageError(directory, () => recordsIn(directory)).filter(({ id }) => !own.has(id));
    const kept = await Promise.all(left.map(async (record) => ((await ended(record)) ? [] : [record])));
    left = kept.flat();
    return left.map(orphanOf);
  }

  async function ended(record: ChildRecord): Promise<boolean> {
    const { group } = record.process;
    const state = await readProcessGroupState(record.process, `${CHILD_MARKER}=${record.id}`);
    const strays = (): number[] =>
      findMarkedProcessGroups(`${CHILD_MARKER}=${record.id}`).filter((stray) => stray !== group);
    const found = strays().length > 0;
    const limits = { graceMs, clock };
    const [end] = await Promise.all([
      state === 'runs' ? endProcessGroup(group, limits).catch(() => 'unconfirmed' as const) : 'gone',
      endFoundProcessGroups(strays, limits),
    ]);
    // A program may have left the group while the group ended, so this searches again.
    const over =
      (await endFoundProcessGroups(strays, limits)) && state !== 'unknown' && end !== 'unconfirmed';
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
        async record(leader) {
          leaderGroup = leader;
          own.add(id);
          try {
            const identity = await readProcessIdentity(leader);
            if (identity !== undefined) write(directory, { id, owner, process: identity });
          } catch (cause) {
            await endProcessGroup(leader, { graceMs, clock });
            throw new ProductError(
              'STORAGE',
              `The process could not be recorded in ${directory} (${errorMessageOf(cause)}), so it was not started. Free some space on that disk, then try again.`,
              { cause },
            );
          }
        },
        strays: () =>
          findMarkedProcessGroups(`${CHILD_MARKER}=${id}`).filter((group) => group !== leaderGroup),
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

function orphanOf({ owner, process: { group } }: ChildRecord): OrphanProcess {
  return { owner, group };
}

function pathOf(directory: string, id: string): string {
  return join(directory, `${id}.json`);
}

function write(directory: string, record: ChildRecord): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(pathOf(directory, record.id), JSON.stringify(record), { mode: 0o600 });
}

function recordsIn(directory: string): ChildRecord[] {
  return namesIn(directory).flatMap((name) => {
    const path = join(directory, name);
    const record = childRecord.safeParse(parseJson(readFileSync(path, 'utf8')));
    if (record.success) return [record.data];
    // The record is incomplete, so the server was killed during the write. The child never ran its command.
    rmSync(path, { force: true });
    return [];
  });
}

function readOrStorageError<T>(directory: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new ProductError(
      'STORAGE',
      `The records of running processes in ${directory} cannot be read (${errorMessageOf(cause)}). Make the directory readable for this user. Then the tasks continue.`,
      { cause },
    );
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith('.json'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
