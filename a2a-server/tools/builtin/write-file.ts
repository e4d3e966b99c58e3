import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import {
  applyFileChange,
  previewFileChange,
  CHANGES_ONE_FILE,
  type ComputeNewContent,
} from './file-change.ts';
import { countWithNoun, oneLineExcerpt } from '../../../shared/text/one-line.ts';
import type { Tool } from '../tool.ts';
import { inLineEndsOf } from './text-edit.ts';

const writeSchema = z.strictObject({
  path: z.string().min(1).describe('File, relative to the workspace. The tool creates missing directories.'),
  content: z.string().describe('The whole new content of the file.'),
});

export const writeFileTool: Tool = defineTool({
  name: 'write-file',
  description:
    'Creates a text file in the workspace, or replaces the whole content of one. To change only a part of a file, use edit-file.',
  ...CHANGES_ONE_FILE,
  schema: writeSchema,
  title: ({ path }) => `Write ${oneLineExcerpt(path)}`,
  show: ({ path, content }, context) => previewFileChange(context, path, () => content),
  withContent: (input, content) => ({ ...input, content }),
  run: async ({ path, content }, run) => {
    const done = await applyFileChange(run, path, () => content);
    const text = `${done.created ? 'Created' : 'Replaced the content of'} ${done.path} (${countWithNoun(done.bytes, 'byte')}).`;
    return { text, summary: `wrote ${done.path} (${countWithNoun(done.bytes, 'byte')})` };
  },
});

const appendSchema = z.strictObject({
  path: z
    .string()
    .min(1)
    .describe('File, relative to the workspace. The tool creates it if it does not exist.'),
  content: z
    .string()
    .min(1)
    .describe(
      'Text to add. Begin with a line break if the file does not end with one. If every line of the file ends in CRLF, so do the new lines.',
    ),
});

const appending =
  (content: string): ComputeNewContent =>
  (before = '') =>
    before + inLineEndsOf(before, content);

export const appendFileTool: Tool = defineTool({
  name: 'append-file',
  description: 'Adds text at the end of a text file of the workspace, or creates the file with it.',
  ...CHANGES_ONE_FILE,
  schema: appendSchema,
  title: ({ path }) => `Append to ${oneLineExcerpt(path)}`,
  show: ({ path, content }, context) => previewFileChange(context, path, appending(content)),
  withContent: (input, content) => ({ ...input, content }),
  run: async ({ path, content }, run) => {
    let old = '';
    const done = await applyFileChange(run, path, (before = '') => {
      old = before;
      return appending(content)(before);
    });
    const added = countWithNoun(done.bytes - Buffer.byteLength(old), 'byte');
    const text = done.created
      ? `Created ${done.path} (${countWithNoun(done.bytes, 'byte')}).`
      : `Added ${added} to ${done.path}; it now has ${countWithNoun(done.bytes, 'byte')}.`;
    return { text, summary: `appended ${added} to ${done.path}` };
  },
});
