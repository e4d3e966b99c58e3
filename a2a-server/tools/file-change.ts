/** What write-file, append-file, edit-file and multi-edit share: the diff before, the write after, and that both mean the same. */
import { ProductError } from '../../shared/errors.ts';
import { count } from './one-line.ts';
import type { Shown, ToolContext, ToolResult, ToolRun } from './tool.ts';
import { unifiedDiff } from '../../shared/unified-diff.ts';
import { changed } from './workspace/replace-file.ts';
import { ABSENT, type TextFile } from './workspace/text-file.ts';

/** Larger texts are not for a person to judge, nor for a model to write. */
export const MAX_WRITE_BYTES = 2 * 1024 * 1024;

/** The content after, given the content before (undefined: no file). Throws where the change cannot be made. */
export type Change = (before: string | undefined) => string;

/** The change as a diff, and what it was made from (D2). */
export async function showChange({ workspace }: ToolContext, path: string, change: Change): Promise<Shown> {
  const before = await workspace.read(path);
  const after = changedContent(before, change);
  const place = before?.path ?? (await workspace.locate(path)).path;
  return {
    preview: { type: 'diff', path: place, diff: unifiedDiff(place, before?.content, after) },
    basis: before?.hash ?? ABSENT,
  };
}

export interface Changed {
  /** Relative to the workspace. */
  path: string;
  created: boolean;
  bytes: number;
}

/**
 * Makes the change, if the file is still what it was shown for (D2). Without a basis nobody was shown anything, and it is
 * made to what is there now; either way, a change in between is not overwritten. @throws ProductError INPUT_CHANGED
 */
export async function makeChange(
  { workspace, basis, signal }: ToolRun,
  path: string,
  change: Change,
): Promise<Changed> {
  const before = await workspace.read(path);
  const place = before?.path ?? (await workspace.locate(path)).path;
  const now = before?.hash ?? ABSENT;
  if (basis !== null && basis !== now) throw changed(place);
  const content = changedContent(before, change);
  await workspace.replace(path, { content, basis: now, signal });
  return { path: place, created: before === undefined, bytes: Buffer.byteLength(content) };
}

/** What is said of an edit in whose place a person has written the whole file. */
export function rewritten({ path, bytes }: Changed): ToolResult {
  const size = count(bytes, 'byte');
  return { text: `Replaced the content of ${path} (${size}).`, summary: `wrote ${path} (${size})` };
}

function changedContent(before: TextFile | undefined, change: Change): string {
  const content = change(before?.content);
  if (/\p{Surrogate}/u.test(content)) {
    throw new ProductError(
      'MALFORMED',
      'The text holds half of a surrogate pair, which no UTF-8 file can hold.',
    );
  }
  if (Buffer.byteLength(content) > MAX_WRITE_BYTES) {
    throw new ProductError(
      'TOO_LARGE',
      `The file would be larger than ${MAX_WRITE_BYTES / 1024 / 1024} MiB; write less, or use a shell command.`,
    );
  }
  return content;
}
