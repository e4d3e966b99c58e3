/** `multi-edit`: several passages of one file replaced in one step, all of them or none. */
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { makeChange, rewritten, showChange } from './file-change.ts';
import { count, oneLine } from './one-line.ts';
import { editAll, type ManyEdited, type TextEdit } from './text-edit.ts';
import type { Tool } from './tool.ts';

const MAX_EDITS = 100;

const edit = z.strictObject({
  oldText: z
    .string()
    .min(1)
    .describe('The passage to replace, copied exactly, as it stands once the edits before it are made.'),
  newText: z.string().describe('What to put in its place; empty to remove the passage.'),
  replaceAll: z.boolean().default(false).describe('Replace every place where oldText stands.'),
});

const schema = z
  .strictObject({
    path: z.string().min(1).describe('File, relative to the workspace. It must exist.'),
    edits: z
      .array(edit)
      .max(MAX_EDITS)
      .default([])
      .describe('The edits, made one after the other. If one does not match, none is made.'),
    content: z
      .string()
      .optional()
      .describe('In place of edits: the whole new text of the file, where a person has rewritten it.'),
  })
  .refine(({ edits, content }) => edits.length > 0 !== (content !== undefined), {
    message: 'give edits, at least one; or content in their place',
  });
type Input = z.output<typeof schema>;

export const multiEdit: Tool = defineTool({
  name: 'multi-edit',
  description:
    'Makes several edits to one text file of the workspace in one step: all of them or none. Each oldText must match exactly and only once, unless replaceAll is set.',
  sideEffect: 'files',
  schema,
  timeoutMs: () => 30_000,
  title: ({ path, edits, content }) =>
    content === undefined
      ? `Edit ${oneLine(path)} in ${count(edits.length, 'passage')}`
      : `Rewrite ${oneLine(path)}`,
  reach: ({ path }) => ({ paths: [path] }),
  show: (input, context) => showChange(context, input.path, (before) => edited(input, before).content),
  // A person who edits the diff writes the file as it shall be, whatever edits were to lead there.
  withContent: ({ path }, content) => ({ path, edits: [], content }),
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
      text: `Made ${count(input.edits.length, 'edit')} to ${done.path}, in ${places}; it now has ${count(done.bytes, 'byte')}.`,
      summary: `edited ${done.path} (${places})`,
    };
  },
});

function edited(
  { path, edits, content }: Input,
  before: string | undefined,
): Extract<ManyEdited, { type: 'edited' }> {
  if (before === undefined) throw new Error(`There is no "${path}" to edit; create it with write-file.`);
  if (content !== undefined) return { type: 'edited', content, replaced: 1 };
  const result = editAll(before, edits satisfies readonly TextEdit[]);
  if (result.type === 'refused') {
    const which = edits.length === 1 ? '' : ` Edit ${result.at + 1} of ${edits.length}:`;
    const none = edits.length === 1 ? '' : ' None of the edits was made.';
    throw new Error(`Cannot edit "${path}":${which} ${result.message}${none}`);
  }
  return result;
}
