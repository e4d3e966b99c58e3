/** Finds the texts of a file before and after a proposed change, so that the page can show an edit as a diff. Pure. */
import { applyPatch, parsePatch, reversePatch } from 'diff';
import type { PendingAction } from '../../../../shared/client/index.ts';
import { unifiedFileDiff } from '../../../../shared/text/unified-diff.ts';

export interface ProposedFile {
  path: string;
  /** The text of the file before the change. Undefined if the file does not exist. */
  before: string | undefined;
  after: string;
}

/**
 * Computes the file before the change from the new content and the diff, because the page has only these two.
 * @returns undefined if the action writes no whole file, or if its diff does not fit its content
 */
export function proposedFileOf({
  input: { content },
  preview,
}: Pick<PendingAction, 'input' | 'preview'>): ProposedFile | undefined {
  if (preview.type !== 'diff' || typeof content !== 'string') return undefined;
  const { path, diff } = preview;
  const old = withoutChange(content, diff);
  if (old === undefined) return undefined;
  const before = diff.startsWith('--- /dev/null\n') ? undefined : old;
  // The texts are known only if the computed diff is the diff of the preview. It differs e.g. for a tool that
  // appends, whose `content` is only the new part.
  return unifiedFileDiff(path, before, content) === diff ? { path, before, after: content } : undefined;
}

function withoutChange(after: string, diff: string): string | undefined {
  try {
    const [patch, ...others] = parsePatch(diff);
    if (patch === undefined || others.length > 0) return undefined;
    const before = applyPatch(after, reversePatch(patch), { autoConvertLineEndings: false });
    return before === false ? undefined : before;
  } catch {
    // The preview is not a diff.
    return undefined;
  }
}
