/**
 * Shows a file change as a diff, then makes the same change. The tools write-file, append-file, edit-file and
 * multi-edit use this code.
 */
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { PreviewWithBasis, ToolContext, ToolRun } from '../tool.ts';
import { unifiedFileDiff } from '../../../shared/text/unified-diff.ts';
import { inputChangedError } from '../workspace/replace-file.ts';
import { MAX_WRITE_BYTES, tooLargeError } from './text-edit.ts';
import { ABSENT_FILE_BASIS, type TextFile } from '../workspace/text-file.ts';

/** The common properties of the tools that change one text file. */
export const CHANGES_ONE_FILE = {
  sideEffect: 'files',
  startsWithFirstChange: true,
  timeoutMs: () => 30_000,
  reach: ({ path }: { path: string }) => ({ paths: [path] }),
} as const;

/**
 * Returns the new content. `before` is the current content, or undefined if the file does not exist. Throws if the
 * change is impossible.
 */
export type ComputeNewContent = (before: string | undefined) => string;

/** Returns the diff, and a hash of the current content. D2: a person's approval is valid only for this content. */
export async function previewFileChange(
  { workspace }: ToolContext,
  path: string,
  change: ComputeNewContent,
): Promise<PreviewWithBasis> {
  const before = await workspace.read(path);
  const after = changedContent(before, change);
  const place = before?.path ?? (await workspace.locate(path)).path;
  return {
    preview: { type: 'diff', path: place, diff: unifiedFileDiff(place, before?.content, after) },
    basis: before?.hash ?? ABSENT_FILE_BASIS,
  };
}

interface FileChangeResult {
  path: string;
  created: boolean;
  bytes: number;
}

/**
 * Makes the change. D2: refuses if the file has changed since the preview. Never overwrites a concurrent change. A
 * `basis` of null means that there was no preview.
 */
export async function applyFileChange(
  { workspace, basis, signal }: ToolRun,
  path: string,
  change: ComputeNewContent,
): Promise<FileChangeResult> {
  const before = await workspace.read(path);
  const now = before?.hash ?? ABSENT_FILE_BASIS;
  if (basis !== null && basis !== now) throw inputChangedError((await workspace.locate(path)).path);
  const content = changedContent(before, change);
  const place = await workspace.replace(path, { content, basis: now, signal });
  return { path: place, created: before === undefined, bytes: Buffer.byteLength(content) };
}

function changedContent(before: TextFile | undefined, change: ComputeNewContent): string {
  const content = change(before?.content);
  if (/\p{Surrogate}/u.test(content)) {
    throw new ProductError(
      'MALFORMED',
      'The text contains half of a surrogate pair, which UTF-8 cannot encode. Remove it or complete the pair.',
    );
  }
  if (Buffer.byteLength(content) > MAX_WRITE_BYTES) throw tooLargeError();
  return content;
}
