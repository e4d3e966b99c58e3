/** `edit-file`: one passage of a file replaced by another. */
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { makeChange, showChange } from './file-change.ts';
import { count, oneLine } from './one-line.ts';
import { editText, type TextEdit } from './text-edit.ts';
import type { Tool } from './tool.ts';

const schema = z.strictObject({
  path: z.string().min(1).describe('File, relative to the workspace. It must exist.'),
  oldText: z
    .string()
    .min(1)
    .describe(
      'The passage to replace, copied exactly, with enough around it to stand in the file only once.',
    ),
  newText: z.string().describe('What to put in its place; empty to remove the passage.'),
  replaceAll: z.boolean().default(false).describe('Replace every place where oldText stands.'),
});

export const editFile: Tool = defineTool({
  name: 'edit-file',
  description:
    'Replaces a passage of a text file of the workspace. oldText must match exactly and only once, unless replaceAll is set.',
  sideEffect: 'files',
  schema,
  timeoutMs: () => 30_000,
  title: ({ path }) => `Edit ${oneLine(path)}`,
  reach: ({ path }) => ({ paths: [path] }),
  show: ({ path, ...edit }, context) =>
    showChange(context, path, (before) => edited(path, before, edit).content),
  withContent: (input, content) => ({ ...input, newText: content }),
  run: async ({ path, ...edit }, run) => {
    let replaced = 0;
    const done = await makeChange(run, path, (before) => {
      const result = edited(path, before, edit);
      replaced = result.replaced;
      return result.content;
    });
    const places = count(replaced, 'place');
    return {
      text: `Edited ${done.path} in ${places}; it now has ${count(done.bytes, 'byte')}.`,
      summary: `edited ${done.path} (${places})`,
    };
  },
});

function edited(
  path: string,
  before: string | undefined,
  edit: TextEdit,
): { content: string; replaced: number } {
  if (before === undefined) throw new Error(`There is no "${path}" to edit; create it with write-file.`);
  const result = editText(before, edit);
  if (result.type === 'refused') throw new Error(`Cannot edit "${path}": ${result.message}`);
  return result;
}
