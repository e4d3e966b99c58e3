/** Computes the changes that a restoration would make. Changes nothing. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { RestorePreview, TaskCheckpoint } from '../../shared/protocol/task-checkpoints.ts';
import { type Checkpoint, type CheckpointFile, isSameSavedContent } from '../task/compute-checkpoints.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import { restoreDiff } from './checkpoint-diff.ts';
import type { CheckpointFinder } from './find-checkpoints.ts';
import {
  FilesChangedError,
  planRestore,
  nothingToRestoreError,
  type FileToRestore,
  type RestoreTarget,
} from './restore-plan.ts';

export interface RestorePreviewOptions {
  checkpoints: CheckpointFinder;
  openWorkspace: (path: string) => Promise<Workspace>;
}

/**
 * Previews the restoration of a checkpoint in its own workspace. If the restoration is refused, returns the refusal as
 * a value instead of throwing it.
 */
export async function previewRestore(
  { principal, workspace: root, ...target }: RestoreTarget & { principal: string; workspace: string },
  { checkpoints, openWorkspace }: RestorePreviewOptions,
): Promise<RestorePreview> {
  try {
    const workspace = await openWorkspace(root);
    const plan = await planRestore(target, { principal, workspace, checkpoints });
    if (plan.files.length === 0) throw nothingToRestoreError(plan);
    const { text, lines } = await restoreDiff(plan, workspace, checkpoints);
    const files = plan.files.map((file) => ({
      path: file.path,
      change: changeOf(file),
      lines: lines.get(file.path) ?? null,
    }));
    return { type: 'ready', files, left: [...plan.left], diff: text };
  } catch (error) {
    if (!(error instanceof ProductError)) throw error;
    return error instanceof FilesChangedError
      ? { type: 'changed-since', paths: [...error.paths] }
      : { type: 'refused', message: error.message };
  }
}

function changeOf({ now, before }: FileToRestore): 'created' | 'changed' | 'deleted' {
  if (before === undefined) return 'deleted';
  return now === undefined ? 'created' : 'changed';
}

/** Converts a checkpoint for clients. */
export function toTaskCheckpoint({ id, turn, at, files, commands }: Checkpoint): TaskCheckpoint {
  return {
    id,
    turn,
    at,
    files: files.map((file) => ({ path: file.path, change: turnChangeOf(file) })),
    commands: [...commands],
  };
}

export function turnChangeOf({ before, after }: CheckpointFile): TaskCheckpoint['files'][number]['change'] {
  const last = after.at(-1);
  if (before.type === 'not-saved') return 'not saved';
  if (last === undefined || isSameSavedContent(before, last)) return 'unchanged';
  if (before.type === 'absent') return 'created';
  return last.type === 'absent' ? 'deleted' : 'changed';
}
