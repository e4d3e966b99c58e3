/** `edit-file`: one passage of a file replaced by another. */
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { makeChange, rewritten, showChange } from './file-change.ts';
import { count, oneLine } from './one-line.ts';
import { editText, type TextEdit } from './text-edit.ts';
import type { Tool } from './tool.ts';

const schema = z
  .strictObject({
    path: z.string().min(1).describe('File, relative to the workspace. It must exist.'),
    oldText: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The passage to replace, copied exactly, with enough around it to stand in the file only once.',
      ),
    newText: z.string().optional().describe('What to put in its place; empty to remove the passage.'),
    replaceAll: z.boolean().default(false).describe('Replace every place where oldText stands.'),
    content: z
      .string()
      .optional()
      .describe(
        'In place of oldText and newText: the whole new text of the file, where a person has rewritten it.',
      ),
  })
  .refine(
    ({ oldText, newText, content }) =>
      content === undefined
        ? oldText !== undefined && newText !== undefined
        : oldText === undefined && newText === undefined,
    { message: 'give oldText and newText; or content in their place' },
  );
type Input = z.output<typeof schema>;

export const editFile: Tool = defineTool({
  name: 'edit-file',
  description:
    'Replaces a passage of a text file of the workspace. oldText must match exactly and only once, unless replaceAll is set.',
  sideEffect: 'files',
  schema,
  timeoutMs: () => 30_000,
  title: ({ path, content }) => `${content === undefined ? 'Edit' : 'Rewrite'} ${oneLine(path)}`,
  reach: ({ path }) => ({ paths: [path] }),
  show: (input, context) => showChange(context, input.path, (before) => edited(input, before).content),
  // A person who edits the diff writes the file as it shall be, whatever passage was to be replaced.
  withContent: ({ path }, content) => ({ path, replaceAll: false, content }),
  run: async (input, run) => {
    let replaced = 0;
    const done = await makeChange(run, input.path, (before) => {
      const result = edited(input, before);
      replaced = result.replaced;
      return result.content;
    });
    if (input.content !== undefined) return rewritten(done);
    const places = count(replaced, 'place');
    return {
      text: `Edited ${done.path} in ${places}; it now has ${count(done.bytes, 'byte')}.`,
      summary: `edited ${done.path} (${places})`,
    };
  },
});

function edited(
  { path, oldText = '', newText = '', replaceAll, content }: Input,
  before: string | undefined,
): { content: string; replaced: number } {
  if (before === undefined) throw new Error(`There is no "${path}" to edit; create it with write-file.`);
  if (content !== undefined) return { content, replaced: 1 };
  const edit: TextEdit = { oldText, newText, replaceAll };
  const result = editText(before, edit);
  if (result.type === 'refused') throw new Error(`Cannot edit "${path}": ${result.message}`);
  return result;
}
