/** Finds a principal's checkpoints. Never returns checkpoints of another principal. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Journal, TaskRow } from '../journal/journal.ts';
import { contentHashOf } from '../tools/workspace/text-file.ts';
import { checkpointsOf, type Checkpoint } from '../task/compute-checkpoints.ts';
import type { Snapshot } from '../task/snapshot.ts';

const MAX_TASKS_READ = 200;
const SHORT_ID_CHARACTERS = 8;
const TASK_ID_PREFIX = /^[a-z]+-/;

export interface FoundCheckpoints {
  /** The newest is first. */
  checkpoints: readonly Checkpoint[];
  /** The tasks with changed files whose events are damaged. Their checkpoints are unknown. */
  damaged: readonly TaskRow[];
}

export interface CheckpointFinder {
  /** Returns the principal's checkpoints, from a limited number of tasks. */
  list(principal: string): Promise<FoundCheckpoints>;
  /**
   * Returns the checkpoint with this id: the task id, a dot, and the number of the turn, e.g. `task-4f2a91bc….3`.
   * Instead of the whole task id, a unique prefix is enough, with or without `task-`.
   * @throws ProductError MALFORMED if no checkpoint, or more than one, has this id. The message lists checkpoints.
   */
  find(principal: string, id: string): Promise<Checkpoint>;
  /**
   * Returns this checkpoint and all later checkpoints of its workspace, oldest first.
   * @throws ProductError MALFORMED if the id is unknown, if too many tasks have changed files after this checkpoint, or
   * if a damaged task may have done so
   */
  since(principal: string, id: string): Promise<Checkpoint[]>;
  /** Returns the saved content of a file. Returns undefined if the content is deleted or damaged. */
  content(checkpoint: Pick<Checkpoint, 'taskId'>, hash: string): Promise<Uint8Array | undefined>;
}

type LoadTask = (taskId: string) => Promise<Snapshot | undefined>;

/** Creates a finder that reads checkpoints from the journal. */
export function createCheckpointFinder(parts: {
  journal: Pick<Journal, 'withSavedFiles' | 'content' | 'row'>;
  taskJournal: {
    load: LoadTask;
    /** Returns undefined also if the events of the task are damaged. */
    loadIfReadable: LoadTask;
  };
}): CheckpointFinder {
  const { journal, taskJournal } = parts;

  async function rows(principal: string, wanted: (taskId: string) => boolean): Promise<TaskRow[]> {
    const found = await journal.withSavedFiles(principal);
    return found.filter(({ taskId }) => wanted(taskId)).slice(0, MAX_TASKS_READ);
  }

  async function of(tasks: readonly TaskRow[], load: LoadTask): Promise<FoundCheckpoints> {
    const found: Checkpoint[] = [];
    const damaged: TaskRow[] = [];
    for (const row of tasks) {
      const snapshot = await load(row.taskId);
      if (snapshot) found.push(...checkpointsOf(snapshot));
      // Another request may have deleted the task since the query of the index.
      else if (await journal.row(row.taskId)) damaged.push(row);
    }
    return { checkpoints: found.toSorted((a, b) => b.at - a.at || b.turn - a.turn), damaged };
  }

  return {
    list: async (principal) =>
      of(await rows(principal, () => true), (taskId) => taskJournal.loadIfReadable(taskId)),
    async find(principal, id) {
      const { task, turn } = partsOf(id);
      const tasks = await rows(principal, (taskId) => isTaskIdPrefix(taskId, task));
      const { checkpoints } = await of(tasks, (taskId) => taskJournal.load(taskId));
      const fits = checkpoints.filter((it) => it.turn === turn);
      const [only, another] = fits;
      if (only !== undefined && another === undefined) return only;
      const named = fits.length > 0 ? fits : (await this.list(principal)).checkpoints;
      throw unknownCheckpointError(id, named, fits.length > 0);
    },
    async since(principal, id) {
      const first = await this.find(principal, id);
      const { checkpoints, damaged } = await this.list(principal);
      const end = checkpoints.findIndex((it) => it.id === first.id);
      if (end === -1)
        throw new ProductError(
          'MALFORMED',
          `More than ${MAX_TASKS_READ} tasks have changed files since the checkpoint ${shortCheckpointId(first)}. Choose a later checkpoint.`,
        );
      const unknownSince = damaged.find(({ updatedAt }) => updatedAt >= first.at);
      if (unknownSince !== undefined)
        throw new ProductError(
          'MALFORMED',
          `The task ${unknownSince.taskId} may have changed files since the checkpoint ${shortCheckpointId(first)}, but its events are damaged. Restore the turns one by one, or choose a later checkpoint.`,
        );
      return checkpoints
        .slice(0, end + 1)
        .filter(({ workspace }) => workspace === first.workspace)
        .toReversed();
    },
    async content({ taskId }, hash) {
      const bytes = await journal.content(taskId, hash);
      return bytes && contentHashOf(bytes) === hash ? bytes : undefined;
    },
  };
}

function partsOf(id: string): { task: string; turn: number } {
  const dot = id.lastIndexOf('.');
  return { task: id.slice(0, Math.max(dot, 0)), turn: Number(id.slice(dot + 1)) };
}

function isTaskIdPrefix(taskId: string, given: string): boolean {
  return given !== '' && (taskId.startsWith(given) || taskId.replace(TASK_ID_PREFIX, '').startsWith(given));
}

export function shortCheckpointId({ taskId, turn }: Pick<Checkpoint, 'taskId' | 'turn'>): string {
  return `${taskId.replace(TASK_ID_PREFIX, '').slice(0, SHORT_ID_CHARACTERS)}.${turn}`;
}

function unknownCheckpointError(id: string, named: readonly Checkpoint[], several: boolean): ProductError {
  const shown = JSON.stringify(id.slice(0, 200));
  const ids = named.slice(0, 10).map((it) => (several ? it.id : shortCheckpointId(it)));
  const there = ids.length === 0 ? 'There are none yet.' : `There are: ${ids.join(', ')}.`;
  return new ProductError(
    'MALFORMED',
    several
      ? `Several checkpoints begin with ${shown}: ${ids.join(', ')}. Give a longer id.`
      : `There is no checkpoint ${shown}. ${there} To list them, run "checkpoint list".`,
    { facts: { checkpoints: named.map((it) => it.id).join(' ') } },
  );
}
