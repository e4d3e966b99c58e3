/**
 * Checkpoints: the files of a workspace before a turn changed them. They are a fold of the task's journal (J2). This
 * file also decides how to restore a file. Pure.
 */
import type { FileState } from './events.ts';
import type { Call, Snapshot } from './snapshot.ts';

/** The changes of one turn by file tools. The changes of shell commands are unknown. */
export interface Checkpoint {
  /** The task id and the turn: `task-….3`. */
  id: string;
  taskId: string;
  sessionId: string;
  turn: number;
  /** The time directly before the first change, in milliseconds since the epoch. */
  at: number;
  /** Absolute path. Empty if the task has no workspace. A task without a workspace changes no files. */
  workspace: string;
  files: readonly CheckpointFile[];
  /** The titles of other calls in the turn that may have changed files. */
  commands: readonly string[];
}

export interface CheckpointFile {
  path: string;
  /** The state before the turn's first change. */
  before: FileState;
  /** The state after each change of the turn, in order. */
  after: readonly FileState[];
}

function checkpointId(taskId: string, turn: number): string {
  return `${taskId}.${turn}`;
}

/** Returns the checkpoints of a task, oldest first. */
export function checkpointsOf(snapshot: Snapshot): Checkpoint[] {
  const turns = groupedBy(Object.values(snapshot.calls), (call) => call.turn);
  return [...turns].flatMap(([turn, calls]) => checkpointOf(snapshot, turn, calls) ?? []);
}

/** Groups items by key. The groups are in the order of their first items. */
function groupedBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function checkpointOf(snapshot: Snapshot, turn: number, calls: readonly Call[]): Checkpoint | undefined {
  const saved = calls.flatMap((call) => call.saved ?? []).toSorted((a, b) => a.at - b.at);
  const [first] = saved;
  if (first === undefined) return undefined;
  const { taskId, sessionId, settings } = snapshot;
  const files = [...groupedBy(saved, ({ path }) => path)].flatMap(([path, changes]) => {
    const [earliest] = changes;
    return earliest ? [{ path, before: earliest.before, after: changes.map(({ after }) => after) }] : [];
  });
  const commands = calls.filter(mayChangeFiles).map(({ title }) => title);
  return {
    id: checkpointId(taskId, turn),
    taskId,
    sessionId,
    turn,
    at: first.at,
    workspace: settings.workspace ?? '',
    files,
    commands,
  };
}

/**
 * True for a started call that may change files without saving them. Only the server's own file tools save their
 * changes.
 */
function mayChangeFiles({ sideEffect, source, toolId }: Call): boolean {
  if (toolId === null || sideEffect === 'none') return false;
  return source.type !== 'built-in' || sideEffect === 'command' || sideEffect === 'other';
}

/** The changes of one file over one or more checkpoints. */
export interface FileChanges extends CheckpointFile {
  /** The task that has the content of `before`. */
  taskId: string;
  /** True if another program or person changed the file between two of the checkpoints. */
  interrupted: boolean;
}

/** Combines the changes of each file over several checkpoints of one workspace. @param checkpoints oldest first */
export function changesOver(checkpoints: readonly Checkpoint[]): FileChanges[] {
  const files = checkpoints.flatMap(({ taskId, files: changed }) =>
    changed.map((file) => ({ ...file, taskId })),
  );
  return [...groupedBy(files, ({ path }) => path).values()].flatMap((changes) => {
    const [first, ...later] = changes;
    return first === undefined
      ? []
      : [later.reduce<FileChanges>(followedBy, { ...first, interrupted: false })];
  });
}

/**
 * Adds a later checkpoint. It may start from each state of the earlier one, because a crash may prevent the last
 * changes.
 */
function followedBy(earlier: FileChanges, { before, after }: CheckpointFile): FileChanges {
  const known = [earlier.before, ...earlier.after].some((state) => isSameState(state, before));
  return {
    ...earlier,
    after: [...earlier.after, ...after],
    interrupted: earlier.interrupted || !known,
  };
}

/** The step that restores one file. */
export type RestoreStep =
  /** The file already has its state before the turn. */
  | { type: 'nothing'; path: string }
  | { type: 'put-back'; path: string; now: FileState; before: Exclude<FileState, { type: 'not-saved' }> }
  /** The file changed after the turn. The restoration does not change it, because that change must not be lost. */
  | { type: 'changed-since'; path: string; now: FileState }
  | { type: 'not-saved'; path: string; why: string };

/**
 * @param now the current state of the file. If it equals any recorded state, no other program has changed the file. A
 * crash may have prevented later changes.
 */
export function restoreStep(
  { path, before, after, interrupted }: Omit<FileChanges, 'taskId'>,
  now: FileState,
): RestoreStep {
  if (before.type === 'not-saved') return { type: 'not-saved', path, why: before.why };
  if (isSameState(now, before)) return { type: 'nothing', path };
  return !interrupted && after.some((state) => isSameState(now, state))
    ? { type: 'put-back', path, now, before }
    : { type: 'changed-since', path, now };
}

/** True if two states are equal. A state without saved content is equal to no state, not even to itself. */
export function isSameState(one: FileState, other: FileState): boolean {
  switch (one.type) {
    case 'content':
      return other.type === 'content' && other.hash === one.hash;
    case 'absent':
      return other.type === 'absent';
    case 'not-saved':
      return false;
  }
}
