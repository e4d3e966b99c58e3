import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { editTextFile, previewFileChange, type EditedContent, CHANGES_ONE_FILE } from './file-change.ts';
import { countWithNoun, oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { applyEdits, type TextEdit } from './text-edit.ts';
import type { Tool } from '../tool.ts';

const MAX_EDITS = 100;

const edit = z.strictObject({
  oldText: z
    .string()
    .min(1)
    .describe('The passage to replace, copied exactly from the text that the earlier edits produce.'),
  newText: z.string().describe('The replacement; an empty string removes the passage.'),
  replaceAll: z.boolean().default(false).describe('Replace every occurrence of oldText.'),
});

const schema = z
  .strictObject({
    path: z.string().min(1).describe('File, relative to the workspace. It must exist.'),
    edits: z
      .array(edit)
      .max(MAX_EDITS)
      .default([])
      .describe('The edits, in order. If one edit does not match, the tool makes none of them.'),
    content: z
      .string()
      .optional()
      .describe(
        'The whole new text of the file, instead of edits. Used when a person has rewritten the file.',
      ),
  })
  .refine(({ edits, content }) => edits.length > 0 !== (content !== undefined), {
    message: 'give at least one edit, or only content',
  });
type Input = z.output<typeof schema>;

export const multiEditTool: Tool = defineTool({
  name: 'multi-edit',
  description:
    'Makes several edits to one text file of the workspace in one step: all of them or none. Each oldText must match exactly and only once, unless replaceAll is set.',
  ...CHANGES_ONE_FILE,
  schema,
  title: ({ path, edits, content }) =>
    content === undefined
      ? `Edit ${oneLineExcerpt(path)} in ${countWithNoun(edits.length, 'passage')}`
      : `Rewrite ${oneLineExcerpt(path)}`,
  show: (input, context) => previewFileChange(context, input.path, (before) => edited(input, before).content),
  // A person who edits the diff writes the whole file. So this input has the whole content and no edits.
  withContent: ({ path }, content) => ({ path, edits: [], content }),
  run: (input, run) =>
    editTextFile(
      run,
      { path: input.path, rewritten: input.content !== undefined },
      {
        edit: (before) => edited(input, before),
        textOf: (path, places) =>
          `Made ${countWithNoun(input.edits.length, 'edit')} to ${path}, in ${places}`,
      },
    ),
});

function edited({ path, edits, content }: Input, before: string | undefined): EditedContent {
  if (before === undefined) throw new Error(`There is no "${path}" to edit; create it with write-file.`);
  if (content !== undefined) return { content, replaced: 1 };
  const result = applyEdits(before, edits satisfies readonly TextEdit[]);
  if (result.type === 'refused') {
    const which = edits.length === 1 ? '' : ` Edit ${result.at + 1} of ${edits.length}:`;
    const none = edits.length === 1 ? '' : ' No edit was made.';
    throw new Error(`Cannot edit "${path}":${which} ${result.message}${none}`);
  }
  return result;
}
