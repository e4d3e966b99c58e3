/**
 * The tool `restore-checkpoint` restores the files that a turn changed. As for each tool call, a person sees a preview
 * and decides, and the journal records the call.
 *
 * - X2: a file tool cannot leave its workspace. So this tool reads and writes files only through the task's workspace,
 *   which must be the checkpoint's workspace.
 * - The tool replaces each file with one rename, or removes the file. After a crash, a repeated call restores the
 *   remaining files.
 * - The workspace saves the files before the tool changes them. So a person can undo a restoration.
 */
import { z } from 'zod';
import { ProductError } from '../../shared/runtime/errors.ts';
import { defineTool } from '../tools/builtin/define-tool.ts';
import { countWithNoun, oneLineExcerpt } from '../../shared/text/one-line.ts';
import type { Tool, ToolContext, ToolRun } from '../tools/tool.ts';
import { inputChangedError } from '../tools/workspace/replace-file.ts';
import { removalHash } from '../tools/workspace/removal-tree.ts';
import { ABSENT_FILE_BASIS } from '../tools/workspace/text-file.ts';
import type { CheckpointFinder } from './find-checkpoints.ts';
import { restoreDiff } from './checkpoint-diff.ts';
import {
  contentLostError,
  planRestore,
  notRestoredText,
  nothingToRestoreError,
  type FileToRestore,
  type RestorePlan,
} from './restore-plan.ts';

export const RESTORE_CHECKPOINT = 'restore-checkpoint';

const schema = z.strictObject({
  checkpoint: z.string().min(1).max(300).describe('The checkpoint\'s id from the command "checkpoint list".'),
  since: z
    .boolean()
    .default(false)
    .describe('Also undo all later turns that changed files of the workspace.'),
});

type Target = z.output<typeof schema>;

export function createRestoreCheckpointTool(checkpoints: CheckpointFinder): Tool {
  const planned = (target: Target, { principal, workspace }: ToolContext): Promise<RestorePlan> =>
    planRestore(target, { principal, workspace, checkpoints });

  async function putBack(file: FileToRestore, { workspace, signal }: ToolRun): Promise<void> {
    const { path, taskId, now, before } = file;
    const basis = now?.hash ?? ABSENT_FILE_BASIS;
    if (before === undefined) return takeAway(path, basis, { workspace, signal });
    const content = await checkpoints.content({ taskId }, before.hash);
    if (content === undefined) throw contentLostError(path);
    const { mode } = before;
    await workspace.replace(path, { content, basis, signal, ...(mode !== undefined && { mode }) });
  }

  return defineTool({
    name: RESTORE_CHECKPOINT,
    description:
      'Undoes one turn, or one turn and all later turns: restores the files that they changed. Refuses if a person or another program has changed a file since.',
    sideEffect: 'files',
    startsWithFirstChange: true,
    // The input of this tool does not name the restored files. So policy rules for all paths of the workspace apply.
    reach: () => ({ trees: ['.'] }),
    commandOnly: true,
    schema,
    timeoutMs: () => 120_000,
    title: (target) => `Restore ${targetText(target)}`,
    async show(target, context) {
      const plan = await planned(target, context);
      const [first, ...more] = plan.files;
      if (first === undefined) throw nothingToRestoreError(plan);
      const path = more.length === 0 ? first.path : countWithNoun(plan.files.length, 'file');
      const { text } = await restoreDiff(plan, context.workspace, checkpoints);
      return { preview: { type: 'diff', path, diff: text }, basis: plan.basis };
    },
    async run(target, run) {
      const plan = await planned(target, run);
      // There is nothing to restore if the server crashed after an earlier run restored the last file.
      if (plan.files.length === 0)
        return {
          text: `Nothing is left to restore: ${notRestoredText(plan)}.`,
          summary: 'nothing left to restore',
        };
      // D2: a decision is valid only for the content that the person saw.
      if (run.basis !== null && run.basis !== plan.basis)
        throw new ProductError(
          'INPUT_CHANGED',
          'The files have changed since the preview. Nothing was restored. Run the command again.',
        );
      for (const file of plan.files) await putBack(file, run);
      const files = countWithNoun(plan.files.length, 'file');
      const rest = plan.left.length === 0 ? '' : ` Not restored: ${notRestoredText(plan)}.`;
      const done = plan.files.map(({ path, before }) => (before ? path : `${path} (removed)`)).join(', ');
      return {
        text: `Restored ${files}: ${done}.${rest}`,
        summary: `restored ${targetText(target)} (${files})`,
      };
    },
  });
}

function targetText({ checkpoint, since }: Target): string {
  return `checkpoint ${oneLineExcerpt(checkpoint)}${since ? ' and all later turns' : ''}`;
}

/** Removes a file if it still has the expected hash. If the file changes after this check, `remove` refuses. */
async function takeAway(
  path: string,
  hash: string,
  { workspace, signal }: Pick<ToolRun, 'workspace' | 'signal'>,
): Promise<void> {
  const item = await workspace.survey(path, signal);
  if (item.kind !== 'file' || (await workspace.bytes(path))?.hash !== hash) throw inputChangedError(path);
  await workspace.remove(path, {
    recursive: false,
    basis: removalHash(item),
    signal,
    onRemoved: () => undefined,
  });
}
