/** Builds a diff of a restoration, or of a turn's changes. */
import type { Checkpoint, CheckpointFile } from '../task/checkpoint.ts';
import type { FileState } from '../task/events.ts';
import { unifiedDiff } from '../../shared/text/unified-diff.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { RestorePlan } from './restore-plan.ts';

/**
 * Maximum characters of a diff, because the journal stores it with the call. Above this maximum, the diff only counts
 * files.
 */
const MAX_DIFF = 200_000;
/** Maximum size in bytes of a file for a line-by-line diff. */
const MAX_COMPARED = 1024 * 1024;

/** One side of a file: its bytes, undefined for no file, null for unknown content. */
type Side = Uint8Array | undefined | null;

/** Shows the plan as one diff. Each unchanged file has a `#` line at the start. `git` and `patch` skip these lines. */
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

/** Shows the turn's changes to each file, if the content before and after is still available. */
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
    // A checkpoint saves only the content before a change. The file itself has the content after the change.
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
    if (diff.length + next.length > MAX_DIFF)
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
  // The unified diff format shows a removed file as `/dev/null`.
  return unifiedDiff(path, before, '').replace(/^\+\+\+ .*$/m, '+++ /dev/null');
}

function sizeOf(side: Side): string {
  if (side === null) return 'unknown';
  return side === undefined ? 'no file' : `${side.length} bytes`;
}

/** Decodes the content. Null for binary or too large content. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.length > MAX_COMPARED || bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
