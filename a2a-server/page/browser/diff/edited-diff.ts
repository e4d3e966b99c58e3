import { unifiedFileDiff } from '../../../../shared/text/unified-diff.ts';
import type { ProposedFile } from './proposed-file.ts';

/** The diff that shows the person what an edit changes, as data for `DiffView`. */
type EditedDiff =
  | { type: 'same'; text: string }
  /** The change of the file on disk. `after` is the whole new file. */
  | { type: 'file'; path: string; diff: string; after: string }
  /** The difference between the proposed and the edited text. */
  | { type: 'input'; path: string; diff: string; after: string };

/**
 * Computes the diff for an edit.
 * @param proposed the text that the agent proposed
 * @param edited the text of the person
 */
export function editedDiff(file: ProposedFile | undefined, proposed: string, edited: string): EditedDiff {
  if (file !== undefined) {
    if (file.before === edited) return { type: 'same', text: 'With this edit, the file stays as it is.' };
    const { path, before } = file;
    return { type: 'file', path, diff: unifiedFileDiff(path, before, edited), after: edited };
  }
  if (proposed === edited) return { type: 'same', text: 'You have not changed anything yet.' };
  return {
    type: 'input',
    path: 'your change',
    diff: unifiedFileDiff('input', proposed, edited),
    after: edited,
  };
}
