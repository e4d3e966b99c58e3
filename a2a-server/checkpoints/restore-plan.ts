/** Plans a restoration from the files' current state. */
import { createHash } from 'node:crypto';
import { ProductError } from '../../shared/runtime/errors.ts';
import { restoreStep, type Checkpoint, type RestoreStep } from '../task/checkpoint.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import type { Checkpoints } from './checkpoints.ts';
import { fileStateOf } from './checkpointing-workspace.ts';

/** A file to restore, with the hashes of its current and its saved content. Undefined means no file. */
export interface RestoredFile {
  path: string;
  now: { hash: string } | undefined;
  before: { hash: string; mode?: number } | undefined;
}

export interface RestorePlan {
  checkpoint: Checkpoint;
  files: readonly RestoredFile[];
  /** Files that the turn changed but the restoration leaves alone, with the reason. */
  left: readonly { path: string; why: string }[];
  /** Hash of the files' current state, to detect later changes (D2). */
  basis: string;
}

/**
 * Reads only, and keeps no content in memory, because there may be many files.
 * @throws ProductError INPUT_CHANGED that names files changed since the turn; STORAGE if saved content is missing. No
 * file is restored then.
 */
export async function restorePlan(
  checkpoint: Checkpoint,
  workspace: Workspace,
  { content }: Pick<Checkpoints, 'content'>,
): Promise<RestorePlan> {
  const steps: RestoreStep[] = [];
  for (const file of checkpoint.files)
    steps.push(restoreStep(file, (await fileStateOf(workspace, file.path)).state));
  const changed = steps.flatMap((step) => (step.type === 'changed-since' ? [step.path] : []));
  if (changed.length > 0) throw changedSince(checkpoint, changed);
  const files = steps.flatMap((step) => (step.type === 'put-back' ? [putBackOf(step)] : []));
  for (const { path, before } of files)
    if (before !== undefined && (await content(checkpoint, before.hash)) === undefined)
      throw contentLostError(path);
  return { checkpoint, files, left: steps.flatMap(leftOf), basis: basisOf(files) };
}

function putBackOf({ path, now, before }: Extract<RestoreStep, { type: 'put-back' }>): RestoredFile {
  return {
    path,
    now: now.type === 'content' ? now : undefined,
    before: before.type === 'content' ? before : undefined,
  };
}

function leftOf(step: RestoreStep): { path: string; why: string }[] {
  switch (step.type) {
    case 'nothing':
      return [{ path: step.path, why: 'is as it was' }];
    case 'not-saved':
      return [{ path: step.path, why: `not saved: ${step.why}` }];
    case 'put-back':
    case 'changed-since':
      return [];
  }
}

export function contentLostError(path: string): ProductError {
  return new ProductError(
    'STORAGE',
    `The saved content of "${path}" is missing, so the file cannot be restored.`,
  );
}

function changedSince({ files }: Checkpoint, changed: readonly string[]): ProductError {
  return new ProductError(
    'INPUT_CHANGED',
    `Nothing was restored: ${changed.length} of ${files.length} files have changed since: ${changed.join(', ')}. If a later checkpoint changed them, restore that one first; otherwise undo the change by hand.`,
    { facts: { paths: changed.join('\n') } },
  );
}

function basisOf(files: readonly RestoredFile[]): string {
  const states = files.map(({ path, now }) => [path, now?.hash ?? 'absent']);
  return createHash('sha256').update(JSON.stringify(states)).digest('hex');
}
