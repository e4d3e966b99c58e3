import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import {
  applyFileChange,
  previewFileChange,
  type ComputeNewContent,
  CHANGES_ONE_FILE,
} from './file-change.ts';
import { countWithNoun, oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { inLineEndsOf } from './text-edit.ts';
import type { Tool } from '../tool.ts';

const schema = z.strictObject({
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
  schema,
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
