import { ProductError } from '../../shared/runtime/errors.ts';
import { sha256 } from '../../shared/runtime/sha256.ts';
import {
  combineFileChanges,
  decideRestoreStep,
  type Checkpoint,
  type RestoreStep,
} from '../task/compute-checkpoints.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import type { CheckpointFinder } from './find-checkpoints.ts';
import { readFileState } from './checkpointing-workspace.ts';

/** A file to restore, with the hashes of its current and its saved content. Undefined means that there is no file. */
export interface FileToRestore {
  path: string;
  /** The task whose journal has the saved content. */
  taskId: string;
  now: { hash: string } | undefined;
  before: { hash: string; mode?: number } | undefined;
}

export interface RestorePlan {
  files: readonly FileToRestore[];
  /** Files that the turns changed but the restoration leaves unchanged, with the reason. */
  left: readonly { path: string; why: string }[];
  /** A hash of the files' current state. D2: if this state changes, the person must decide again. */
  basis: string;
}

/** Names the turn to undo. */
export interface RestoreTarget {
  checkpoint: string;
  /** True to undo all later turns of the workspace too. */
  since: boolean;
}

interface RestorePlace {
  principal: string;
  workspace: Workspace;
  checkpoints: CheckpointFinder;
}

/**
 * Finds a checkpoint and plans its restoration with `createRestorePlan`.
 * @throws ProductError MALFORMED if the id is unknown; OUTSIDE_WORKSPACE if the checkpoint has another workspace
 */
export async function planRestore(
  { checkpoint, since }: RestoreTarget,
  { principal, workspace, checkpoints }: RestorePlace,
): Promise<RestorePlan> {
  const turns = since
    ? await checkpoints.since(principal, checkpoint)
    : [await checkpoints.find(principal, checkpoint)];
  for (const turn of turns) if (turn.workspace !== workspace.root) throw otherWorkspaceError(turn);
  return createRestorePlan(turns, workspace, checkpoints);
}

function otherWorkspaceError({ workspace }: Checkpoint): ProductError {
  return new ProductError(
    'OUTSIDE_WORKSPACE',
    `The checkpoint belongs to the workspace ${workspace}. Run the command with that workspace.`,
  );
}

/**
 * Plans a restoration from the files' current state. Changes nothing. The plan contains no file content, because it may
 * cover many files.
 * @param checkpoints the turns to undo, oldest first
 * @throws FilesChangedError if files have changed since these turns
 * @throws ProductError STORAGE if saved content is missing
 */
async function createRestorePlan(
  checkpoints: readonly Checkpoint[],
  workspace: Workspace,
  { content }: Pick<CheckpointFinder, 'content'>,
): Promise<RestorePlan> {
  const changes = combineFileChanges(checkpoints);
  const steps: { taskId: string; step: RestoreStep }[] = [];
  for (const file of changes) {
    const { state } = await readFileState(workspace, file.path);
    steps.push({ taskId: file.taskId, step: decideRestoreStep(file, state) });
  }
  const changed = steps.flatMap(({ step }) => (step.type === 'changed-since' ? [step.path] : []));
  if (changed.length > 0) throw new FilesChangedError(checkpoints.length, changes.length, changed);
  const files = steps.flatMap(({ taskId, step }) =>
    step.type === 'put-back' ? [putBackOf(taskId, step)] : [],
  );
  for (const { path, taskId, before } of files)
    if (before !== undefined && (await content({ taskId }, before.hash)) === undefined)
      throw contentLostError(path);
  return { files, left: steps.flatMap(({ step }) => leftOf(step)), basis: basisOf(files) };
}

function putBackOf(
  taskId: string,
  { path, now, before }: Extract<RestoreStep, { type: 'put-back' }>,
): FileToRestore {
  return {
    path,
    taskId,
    now: now.type === 'content' ? now : undefined,
    before: before.type === 'content' ? before : undefined,
  };
}

function leftOf(step: RestoreStep): { path: string; why: string }[] {
  switch (step.type) {
    case 'nothing':
      return [{ path: step.path, why: 'unchanged' }];
    case 'not-saved':
      return [{ path: step.path, why: `not saved: ${step.why}` }];
    case 'put-back':
    case 'changed-since':
      return [];
  }
}

export function nothingToRestoreError(plan: RestorePlan): ProductError {
  return new ProductError('MALFORMED', `There is nothing to restore: ${notRestoredText(plan)}.`);
}

/** Returns a list of the files that stay unchanged, with the reasons, e.g. `a.txt (unchanged), b.txt (not saved: …)`. */
export function notRestoredText({ left }: RestorePlan): string {
  return left.map(({ path, why }) => `${path} (${why})`).join(', ');
}

export function contentLostError(path: string): ProductError {
  return new ProductError(
    'STORAGE',
    `The saved content of "${path}" is missing, so the file cannot be restored.`,
  );
}

/** The maximum number of files that the message names. X3: a turn may have changed thousands of files. */
const MAX_NAMED_FILES = 20;

/** Thrown if files have changed since the turns to undo. */
export class FilesChangedError extends ProductError {
  /** All changed files. */
  readonly paths: readonly string[];

  constructor(turns: number, files: number, changed: readonly string[]) {
    const next =
      turns === 1
        ? 'If later turns changed these files, undo those turns too with "checkpoint restore-since". Otherwise a person or a command changed them during or after the turn: undo the changes by hand.'
        : 'A person or a command changed them after or between these turns. Undo that change by hand, or restore single turns.';
    const named = changed.slice(0, MAX_NAMED_FILES).join(', ');
    const more = changed.length > MAX_NAMED_FILES ? ` and ${changed.length - MAX_NAMED_FILES} more` : '';
    super(
      'INPUT_CHANGED',
      `Nothing was restored: ${changed.length} of ${files} files have changed since: ${named}${more}. ${next}`,
    );
    this.paths = changed;
  }
}

function basisOf(files: readonly FileToRestore[]): string {
  const states = files.map(({ path, now }) => [path, now?.hash ?? 'absent']);
  return sha256(JSON.stringify(states));
}
