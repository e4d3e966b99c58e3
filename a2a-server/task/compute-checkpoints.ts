/**
 * Computes checkpoints from the journal alone (J2), and decides how to restore a file. A checkpoint records the files
 * of a workspace before a turn changed them. Pure.
 */
import { groupedBy } from './grouped-by.ts';
import type { FileState } from './events.ts';
import type { Call, Snapshot } from './snapshot.ts';

/** The changes that the file tools made in one turn. The changes of shell commands are unknown. */
export interface Checkpoint {
  /** The id: the task id and the number of the turn, e.g. `task-….3`. */
  id: string;
  taskId: string;
  sessionId: string;
  turn: number;
  /** The time directly before the first change, in milliseconds since 1970. */
  at: number;
  /** The absolute path of the workspace. Empty if the task has no workspace. Such a task changes no files. */
  workspace: string;
  files: readonly CheckpointFile[];
  /**
   * The titles of the turn's started tool calls that may have changed further files, e.g. shell commands. This
   * checkpoint does not contain those files.
   */
  commands: readonly string[];
}

export interface CheckpointFile {
  path: string;
  before: FileState;
  /** The states of the file after each change of the turn, oldest first. */
  after: readonly FileState[];
  /** True if another program or a person changed the file between two of the changes in `after`. */
  interrupted: boolean;
}

function checkpointId(taskId: string, turn: number): string {
  return `${taskId}.${turn}`;
}

export function checkpointsOf(snapshot: Snapshot): Checkpoint[] {
  const turns = groupedBy(Object.values(snapshot.calls), (call) => call.turn);
  return [...turns].flatMap(([turn, calls]) => checkpointOf(snapshot, turn, calls) ?? []);
}

function checkpointOf(snapshot: Snapshot, turn: number, calls: readonly Call[]): Checkpoint | undefined {
  // `saved` is in the order of the changes, because the calls of a turn that change files run in order. (Times are not
  // in order if the clock went back.)
  const saved = calls.flatMap((call) => call.saved ?? []);
  const [first] = saved;
  if (first === undefined) return undefined;
  const { taskId, sessionId, settings } = snapshot;
  const changes = saved.map(({ path, before, after }) => ({
    path,
    before,
    after: [after],
    interrupted: false,
  }));
  const files = [...groupedBy(changes, ({ path }) => path).values()].flatMap(combineChanges);
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
 * True if the tool call started and may have changed files without saving them. Only the server's own file tools save
 * files.
 */
function mayChangeFiles({ sideEffect, source, toolId }: Call): boolean {
  if (toolId === null || sideEffect === 'none') return false;
  return source.type !== 'built-in' || sideEffect === 'command' || sideEffect === 'other';
}

interface CombinedFileChange extends CheckpointFile {
  /** The task whose journal has the content of `before`. */
  taskId: string;
}

/** Combines the changes of each file in several checkpoints of one workspace. @param checkpoints oldest first */
export function combineFileChanges(checkpoints: readonly Checkpoint[]): CombinedFileChange[] {
  const files = checkpoints.flatMap(({ taskId, files: changed }) =>
    changed.map((file) => ({ ...file, taskId })),
  );
  return [...groupedBy(files, ({ path }) => path).values()].flatMap(combineChanges);
}

/** Combines the changes of one file. @param changes oldest first */
function combineChanges<Change extends CheckpointFile>([first, ...later]: readonly Change[]): Change[] {
  return first === undefined ? [] : [later.reduce(followedBy, first)];
}

/**
 * Adds a later change to the earlier changes of a file. The later change may start from any recorded state, because a
 * crash may have prevented the last of the earlier changes. If it starts from another state, something else changed the
 * file in between (`interrupted`).
 */
function followedBy<Change extends CheckpointFile>(
  earlier: Change,
  { before, after, interrupted }: CheckpointFile,
): Change {
  const known = [earlier.before, ...earlier.after].some((state) => isSameSavedContent(state, before));
  return {
    ...earlier,
    after: [...earlier.after, ...after],
    interrupted: earlier.interrupted || interrupted || !known,
  };
}

export type RestoreStep =
  /** The file still has its state from before the turn, so there is nothing to restore. */
  | { type: 'nothing'; path: string }
  | { type: 'put-back'; path: string; now: FileState; before: Exclude<FileState, { type: 'not-saved' }> }
  /** The file changed after the turn. The restoration keeps the file, because the later change must not be lost. */
  | { type: 'changed-since'; path: string; now: FileState }
  | { type: 'not-saved'; path: string; why: string };

/**
 * Decides what a restoration does with one file.
 * @param now the current state of the file. If the turn recorded this state, only the turn has changed the file. This
 * state need not be the last recorded state: a crash may have prevented the last change.
 */
export function decideRestoreStep(
  { path, before, after, interrupted }: Omit<CombinedFileChange, 'taskId'>,
  now: FileState,
): RestoreStep {
  if (before.type === 'not-saved') return { type: 'not-saved', path, why: before.why };
  if (isSameSavedContent(now, before)) return { type: 'nothing', path };
  return !interrupted && after.some((state) => isSameSavedContent(now, state))
    ? { type: 'put-back', path, now, before }
    : { type: 'changed-since', path, now };
}

/** True if both states have the same saved content. A state without saved content equals no state, not even itself. */
export function isSameSavedContent(one: FileState, other: FileState): boolean {
  switch (one.type) {
    case 'content':
      return other.type === 'content' && other.hash === one.hash;
    case 'absent':
      return other.type === 'absent';
    case 'not-saved':
      return false;
  }
}
