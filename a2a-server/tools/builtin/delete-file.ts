import { z } from 'zod';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { defineTool } from './define-tool.ts';
import { byteCountText, countWithNoun, oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { ToolStoppedError, type Tool } from '../tool.ts';
import { refuseNonEmptyDirectory } from '../workspace/remove.ts';
import { removalHash, withDescendants, type RemovalEntry } from '../workspace/removal-tree.ts';

/** The maximum number of characters of names in the preview. A person cannot review a longer list. */
const MAX_LISTED_CHARS = 1_000_000;

const schema = z.strictObject({
  path: z
    .string()
    .min(1)
    .describe(
      'File, link or directory, relative to the workspace. For a link, the tool deletes only the link.',
    ),
  recursive: z
    .boolean()
    .default(false)
    .describe('Delete a directory that is not empty, with everything in it.'),
});

export const deleteFileTool: Tool = defineTool({
  name: 'delete-file',
  description:
    'Deletes a file or an empty directory of the workspace; with recursive, also a directory and everything in it.',
  sideEffect: 'files',
  startsWithFirstChange: true,
  schema,
  timeoutMs: () => 60_000,
  title: ({ path, recursive }) => `Delete ${oneLineExcerpt(path)}${recursive ? ' and all it holds' : ''}`,
  reach: ({ path, recursive }) => (recursive ? { trees: [path] } : { entries: [path] }),
  show: async ({ path, recursive }, { workspace, signal }) => {
    const found = await workspace.survey(path, signal);
    refuseNonEmptyDirectory(found, recursive);
    return { preview: { type: 'json', value: deletionPreview(found) }, basis: removalHash(found) };
  },
  run: async ({ path, recursive }, { workspace, basis, signal }) => {
    const gone: RemovalEntry[] = [];
    const removal = { recursive, basis, signal, onRemoved: (item: RemovalEntry) => gone.push(item) };
    await workspace.remove(path, removal).catch((error: unknown) => {
      throw gone.length === 0 ? error : halfDone(error, gone, signal);
    });
    const what = `${oneLineExcerpt(path)}${gone.length > 1 ? ` and the ${gone.length - 1} it held` : ''}`;
    return { text: `Deleted ${what}.`, summary: `deleted ${what}` };
  },
});

/**
 * Returns the preview. D5: it shows every item to delete, with the size of each file.
 * @throws ProductError TOO_LARGE if the list is too long for a person
 */
function deletionPreview(found: RemovalEntry) {
  const items = withDescendants(found);
  const deletes = items.map(lineOf);
  if (deletes.reduce((sum, line) => sum + line.length, 0) > MAX_LISTED_CHARS)
    throw new ProductError(
      'TOO_LARGE',
      `The names of everything in "${oneLineExcerpt(found.path)}" are too long to be shown to a person. Delete a part of it, or use a shell command.`,
    );
  return { count: items.length, bytes: items.reduce((sum, { bytes }) => sum + bytes, 0), deletes };
}

function lineOf({ path, kind, bytes }: RemovalEntry): string {
  const shown = oneLineExcerpt(path, Number.POSITIVE_INFINITY);
  switch (kind) {
    case 'file':
      return `${shown} (${byteCountText(bytes)})`;
    case 'directory':
      return `${shown}/`;
    case 'link':
      return `${shown} (a link; its target stays)`;
    case 'other':
      return `${shown} (not a regular file)`;
  }
}

/** Adds the number of deleted items to the error, because a person cannot undo the deletion. */
function halfDone(error: unknown, gone: readonly RemovalEntry[], signal: AbortSignal): Error {
  const so = `Already deleted: ${countWithNoun(gone.length, 'item')}.`;
  if (signal.aborted) return new ToolStoppedError('The deletion was stopped.', { text: so, confirmed: true });
  return new Error(`${errorMessageOf(error)} ${so}`, { cause: error });
}
