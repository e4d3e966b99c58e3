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
  // The texts are known only if the computed diff is the diff of the preview. The two differ e.g. for a tool that
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

/** The diff that shows the person what an edit changes, as data for `DiffView`. `after` is the whole new text. */
type EditedDiff =
  | { type: 'same'; text: string }
  | { type: 'changed'; path: string; diff: string; after: string };

/**
 * Computes the diff for an edit: the change of the file on disk, if the page knows it. Otherwise the difference between
 * the proposed and the edited text.
 * @param proposed the text that the agent proposed
 * @param edited the text of the person
 */
export function editedDiff(file: ProposedFile | undefined, proposed: string, edited: string): EditedDiff {
  if (file !== undefined) {
    if (file.before === edited) return { type: 'same', text: 'With this edit, the file stays as it is.' };
    const { path, before } = file;
    return { type: 'changed', path, diff: unifiedFileDiff(path, before, edited), after: edited };
  }
  if (proposed === edited) return { type: 'same', text: 'You have not changed anything yet.' };
  const diff = unifiedFileDiff('input', proposed, edited);
  return { type: 'changed', path: 'your change', diff, after: edited };
}
