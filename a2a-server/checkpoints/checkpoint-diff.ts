import type { Checkpoint, CheckpointFile } from '../task/compute-checkpoints.ts';
import type { FileState } from '../task/events.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import {
  countDiffLines,
  diffFileName,
  type LineCounts,
  unifiedFileDiff,
} from '../../shared/text/unified-diff.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import type { CheckpointFinder } from './find-checkpoints.ts';
import type { RestorePlan } from './restore-plan.ts';

/**
 * The journal stores the diff with the tool call, so its length is limited. Files that do not fit have a `#` line with
 * their sizes.
 */
const MAX_DIFF_CHARACTERS = 200_000;
/** The maximum length of a restoration's preview, in characters. A person cannot review a longer list of files. */
const MAX_PREVIEW_CHARACTERS = 1_000_000;
const MAX_COMPARED_BYTES = 1024 * 1024;

/** The content of a file before or after a change. Undefined means no file, null means unknown content. */
type ContentOfSide = Uint8Array | undefined | null;

/** The diffs of several files as one text. */
interface MultiFileDiff {
  text: string;
  /** The numbers of changed lines, by path. Files that the text does not show are absent. */
  lines: ReadonlyMap<string, LineCounts>;
}

/**
 * Shows the plan of a restoration as one diff. Each file that the restoration leaves unchanged has a `#` line at the
 * start, which `git` and `patch` skip. D5: the diff names every file that the restoration changes.
 * @throws ProductError TOO_LARGE if the names are too long for a person
 */
export async function restoreDiff(
  { files, left }: RestorePlan,
  workspace: Workspace,
  { content }: Pick<CheckpointFinder, 'content'>,
): Promise<MultiFileDiff> {
  const remarks = left.map(({ path, why }) => `# ${diffFileName(path)} (${why}) stays as it is\n`).join('');
  const diff = await joinFileDiffs(
    remarks,
    files.map(({ path, taskId, now, before }) => ({
      path,
      read: async () => [
        now && ((await workspace.bytes(path))?.bytes ?? null),
        before && ((await content({ taskId }, before.hash)) ?? null),
      ],
    })),
  );
  if (diff.text.length > MAX_PREVIEW_CHARACTERS)
    throw new ProductError(
      'TOO_LARGE',
      `The names of the ${files.length + left.length} files are too long to be shown to a person. Restore fewer turns, or restore the files by hand.`,
    );
  return diff;
}

/** Shows a turn's changes to each file, if the content before and after is still available. */
export async function turnDiff(
  checkpoint: Checkpoint,
  workspace: Workspace,
  { content }: Pick<CheckpointFinder, 'content'>,
): Promise<string> {
  const sideOf = async (state: FileState | undefined, path: string): Promise<ContentOfSide> => {
    if (state === undefined || state.type === 'not-saved') return null;
    if (state.type === 'absent') return undefined;
    const kept = await content(checkpoint, state.hash);
    if (kept !== undefined) return kept;
    // A checkpoint saves only the content before a change. So the content after the change is known only if the file
    // itself still has it.
    const now = await workspace.bytes(path).catch(() => undefined);
    return now?.hash === state.hash ? now.bytes : null;
  };
  const { text } = await joinFileDiffs(
    '',
    checkpoint.files.map(({ path, before, after }: CheckpointFile) => ({
      path,
      read: async () => [await sideOf(before, path), await sideOf(after.at(-1), path)],
    })),
  );
  return text;
}

interface ComparedFile {
  path: string;
  /** Reads the content before and after the change. */
  read: () => Promise<readonly [ContentOfSide, ContentOfSide]>;
}

async function joinFileDiffs(remarks: string, files: readonly ComparedFile[]): Promise<MultiFileDiff> {
  let text = remarks;
  const lines = new Map<string, LineCounts>();
  for (const { path, read } of files) {
    const [from, to] = await read();
    const diff = fileDiff(path, from, to);
    const fits = diff !== undefined && text.length + diff.length <= MAX_DIFF_CHARACTERS;
    text += fits ? diff : `# ${diffFileName(path)}: ${sizeOf(from)} → ${sizeOf(to)}, not shown\n`;
    if (fits) lines.set(path, countDiffLines(diff));
  }
  return { text, lines };
}

/** Returns the diff of one file. Returns undefined if the content of a side is unknown, binary or too large. */
function fileDiff(path: string, from: ContentOfSide, to: ContentOfSide): string | undefined {
  const before = from && textOf(from);
  const after = to && textOf(to);
  return before === null || after === null ? undefined : unifiedFileDiff(path, before, after);
}

function sizeOf(side: ContentOfSide): string {
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
