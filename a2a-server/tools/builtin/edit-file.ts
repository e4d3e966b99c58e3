import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { editTextFile, previewFileChange, type EditedContent, CHANGES_ONE_FILE } from './file-change.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { applySingleEdit, type TextEdit } from './text-edit.ts';
import type { Tool } from '../tool.ts';

const schema = z
  .strictObject({
    path: z.string().min(1).describe('File, relative to the workspace. It must exist.'),
    oldText: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The passage to replace, copied exactly. Include enough text around it to make it unique in the file.',
      ),
    newText: z.string().optional().describe('The replacement; an empty string removes the passage.'),
    replaceAll: z.boolean().default(false).describe('Replace every occurrence of oldText.'),
    content: z
      .string()
      .optional()
      .describe(
        'The whole new text of the file, instead of oldText and newText. Used when a person has rewritten the file.',
      ),
  })
  .refine(
    ({ oldText, newText, content }) =>
      content === undefined
        ? oldText !== undefined && newText !== undefined
        : oldText === undefined && newText === undefined,
    { message: 'give oldText and newText, or only content' },
  );
type Input = z.output<typeof schema>;

export const editFileTool: Tool = defineTool({
  name: 'edit-file',
  description:
    'Replaces a passage of a text file of the workspace. oldText must match exactly and only once, unless replaceAll is set.',
  ...CHANGES_ONE_FILE,
  schema,
  title: ({ path, content }) => `${content === undefined ? 'Edit' : 'Rewrite'} ${oneLineExcerpt(path)}`,
  show: (input, context) => previewFileChange(context, input.path, (before) => edited(input, before).content),
  // A person who edits the diff writes the whole file. So this input has the whole content and no passage.
  withContent: ({ path }, content) => ({ path, replaceAll: false, content }),
  run: (input, run) =>
    editTextFile(
      run,
      { path: input.path, rewritten: input.content !== undefined },
      { edit: (before) => edited(input, before), textOf: (path, places) => `Edited ${path} in ${places}` },
    ),
});

function edited(
  { path, oldText = '', newText = '', replaceAll, content }: Input,
  before: string | undefined,
): EditedContent {
  if (before === undefined) throw new Error(`There is no "${path}" to edit; create it with write-file.`);
  if (content !== undefined) return { content, replaced: 1 };
  const edit: TextEdit = { oldText, newText, replaceAll };
  const result = applySingleEdit(before, edit);
  if (result.type === 'refused') throw new Error(`Cannot edit "${path}": ${result.message}`);
  return result;
}
