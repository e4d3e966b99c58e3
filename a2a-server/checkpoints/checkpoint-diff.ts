import type { Checkpoint, CheckpointFile } from '../task/compute-checkpoints.ts';
import type { FileState } from '../task/events.ts';
import { unifiedDiff } from '../../shared/text/unified-diff.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import type { Checkpoints } from './find-checkpoints.ts';
import type { RestorePlan } from './restore-plan.ts';

/**
 * The journal stores the diff with the call, so its length is limited. A longer diff only counts the remaining files.
 */
const MAX_DIFF_CHARACTERS = 200_000;
const MAX_COMPARED_BYTES = 1024 * 1024;

/** The content of a file before or after a change. Undefined means no file, null means unknown content. */
type Side = Uint8Array | undefined | null;

/**
 * Shows the plan of a restoration as one diff. Each unchanged file has a `#` line at the start, which `git` and `patch`
 * skip.
 */
export async function restoreDiff(
  { files, left }: RestorePlan,
  workspace: Workspace,
  { content }: Pick<Checkpoints, 'content'>,
): Promise<string> {
  const remarks = left.map(({ path, why }) => `# ${path} (${why}) stays as it is\n`).join('');
  return joined(
    remarks,
    files.map(({ path, taskId, now, before }) => async () => {
      const from = now && ((await workspace.bytes(path))?.bytes ?? null);
      const to = before && ((await content({ taskId }, before.hash)) ?? null);
      return fileDiff(path, from, to);
    }),
  );
}

/** Shows a turn's changes to each file, if the content before and after is still available. */
export async function turnDiff(
  checkpoint: Checkpoint,
  workspace: Workspace,
  { content }: Pick<Checkpoints, 'content'>,
): Promise<string> {
  const sideOf = async (state: FileState | undefined, path: string): Promise<Side> => {
    if (state === undefined || state.type === 'not-saved') return null;
    if (state.type === 'absent') return undefined;
    const kept = await content(checkpoint, state.hash);
    if (kept !== undefined) return kept;
    // A checkpoint saves only the content before a change. The content after the change may still be in the file
    // itself.
    const now = await workspace.bytes(path).catch(() => undefined);
    return now?.hash === state.hash ? now.bytes : null;
  };
  return joined(
    '',
    checkpoint.files.map(({ path, before, after }: CheckpointFile) => async () => {
      return fileDiff(path, await sideOf(before, path), await sideOf(after.at(-1), path));
    }),
  );
}

async function joined(remarks: string, files: readonly (() => Promise<string>)[]): Promise<string> {
  let diff = remarks;
  for (const [index, file] of files.entries()) {
    const next = await file();
    if (diff.length + next.length > MAX_DIFF_CHARACTERS)
      return `${diff}# ${files.length - index} more files, too long to show\n`;
    diff += next;
  }
  return diff;
}

function fileDiff(path: string, from: Side, to: Side): string {
  const before = from && textOf(from);
  const after = to && textOf(to);
  if (before === null || after === null) return `# ${path}: ${sizeOf(from)} → ${sizeOf(to)}, not shown\n`;
  if (after !== undefined) return unifiedDiff(path, before, after);
  // The unified diff format names `/dev/null` as the new name of a removed file.
  return unifiedDiff(path, before, '').replace(/^\+\+\+ .*$/m, '+++ /dev/null');
}

function sizeOf(side: Side): string {
  if (side === null) return 'unknown';
  return side === undefined ? 'no file' : `${side.length} bytes`;
}

/** Decodes the content. Returns null if the content is binary or too large. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.length > MAX_COMPARED_BYTES || bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
