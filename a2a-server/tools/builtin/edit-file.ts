import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { applyFileChange, CHANGES_ONE_FILE, previewFileChange } from './file-change.ts';
import { countWithNoun, oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { applyEdits, applySingleEdit } from './text-edit.ts';
import type { PreviewWithBasis, Tool, ToolContext, ToolResult, ToolRun } from '../tool.ts';

const singleEditSchema = z
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

export const editFileTool: Tool = defineTool({
  name: 'edit-file',
  description:
    'Replaces a passage of a text file of the workspace. oldText must match exactly and only once, unless replaceAll is set.',
  ...CHANGES_ONE_FILE,
  schema: singleEditSchema,
  title: ({ path, content }) => `${content === undefined ? 'Edit' : 'Rewrite'} ${oneLineExcerpt(path)}`,
  show: (input, context) => previewEdit(context, input, singleEdit(input)),
  // A person who edits the diff writes the whole file. So this input has the whole content and no passage.
  withContent: ({ path }, content) => ({ path, replaceAll: false, content }),
  run: (input, run) =>
    editTextFile(run, input, {
      edit: singleEdit(input),
      textOf: (path, places) => `Edited ${path} in ${places}`,
    }),
});

function singleEdit({
  path,
  oldText = '',
  newText = '',
  replaceAll,
}: z.output<typeof singleEditSchema>): EditText {
  return (before) => {
    const result = applySingleEdit(before, { oldText, newText, replaceAll });
    if (result.type === 'refused') throw new Error(`Cannot edit "${path}": ${result.message}`);
    return result;
  };
}

const MAX_EDITS = 100;

const editSchema = z.strictObject({
  oldText: z
    .string()
    .min(1)
    .describe('The passage to replace, copied exactly from the text that the earlier edits produce.'),
  newText: z.string().describe('The replacement; an empty string removes the passage.'),
  replaceAll: z.boolean().default(false).describe('Replace every occurrence of oldText.'),
});

const multiEditSchema = z
  .strictObject({
    path: z.string().min(1).describe('File, relative to the workspace. It must exist.'),
    edits: z
      .array(editSchema)
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

export const multiEditTool: Tool = defineTool({
  name: 'multi-edit',
  description:
    'Makes several edits to one text file of the workspace in one step: all of them or none. Each oldText must match exactly and only once, unless replaceAll is set.',
  ...CHANGES_ONE_FILE,
  schema: multiEditSchema,
  title: ({ path, edits, content }) =>
    content === undefined
      ? `Edit ${oneLineExcerpt(path)} in ${countWithNoun(edits.length, 'passage')}`
      : `Rewrite ${oneLineExcerpt(path)}`,
  show: (input, context) => previewEdit(context, input, severalEdits(input)),
  // A person who edits the diff writes the whole file. So this input has the whole content and no edits.
  withContent: ({ path }, content) => ({ path, edits: [], content }),
  run: (input, run) =>
    editTextFile(run, input, {
      edit: severalEdits(input),
      textOf: (path, places) => `Made ${countWithNoun(input.edits.length, 'edit')} to ${path}, in ${places}`,
    }),
});

function severalEdits({ path, edits }: z.output<typeof multiEditSchema>): EditText {
  return (before) => {
    const result = applyEdits(before, edits);
    if (result.type === 'edited') return result;
    const which = edits.length === 1 ? '' : ` Edit ${result.at + 1} of ${edits.length}:`;
    const none = edits.length === 1 ? '' : ' No edit was made.';
    throw new Error(`Cannot edit "${path}":${which} ${result.message}${none}`);
  };
}

interface EditedContent {
  content: string;
  replaced: number;
}

/** @throws Error if the text does not fit the edit */
type EditText = (before: string) => EditedContent;

interface EditInput {
  path: string;
  /** The whole content, which a person wrote instead of the edit. */
  content?: string | undefined;
}

function edited({ path, content }: EditInput, before: string | undefined, edit: EditText): EditedContent {
  if (before === undefined) throw new Error(`There is no "${path}" to edit; create it with write-file.`);
  return content === undefined ? edit(before) : { content, replaced: 1 };
}

function previewEdit(context: ToolContext, input: EditInput, edit: EditText): Promise<PreviewWithBasis> {
  return previewFileChange(context, input.path, (before) => edited(input, before, edit).content);
}

/** @param textOf returns the start of the result text, e.g. `Edited a.md in 2 places` */
async function editTextFile(
  run: ToolRun,
  input: EditInput,
  { edit, textOf }: { edit: EditText; textOf: (path: string, places: string) => string },
): Promise<ToolResult> {
  let replaced = 0;
  const done = await applyFileChange(run, input.path, (before) => {
    const after = edited(input, before, edit);
    replaced = after.replaced;
    return after.content;
  });
  const size = countWithNoun(done.bytes, 'byte');
  if (input.content !== undefined)
    return {
      text: `Replaced the content of ${done.path} (${size}).`,
      summary: `wrote ${done.path} (${size})`,
    };
  const places = countWithNoun(replaced, 'place');
  return {
    text: `${textOf(done.path, places)}; it now has ${size}.`,
    summary: `edited ${done.path} (${places})`,
  };
}
