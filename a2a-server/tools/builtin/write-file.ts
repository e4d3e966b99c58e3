import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { applyFileChange, previewFileChange, CHANGES_ONE_FILE } from './file-change.ts';
import { countWithNoun, oneLineExcerpt } from '../../../shared/text/one-line.ts';
import type { Tool } from '../tool.ts';

const schema = z.strictObject({
  path: z.string().min(1).describe('File, relative to the workspace. The tool creates missing directories.'),
  content: z.string().describe('The whole new content of the file.'),
});

export const writeFileTool: Tool = defineTool({
  name: 'write-file',
  description:
    'Creates a text file in the workspace, or replaces the whole content of one. To change only a part of a file, use edit-file.',
  ...CHANGES_ONE_FILE,
  schema,
  title: ({ path }) => `Write ${oneLineExcerpt(path)}`,
  show: ({ path, content }, context) => previewFileChange(context, path, () => content),
  withContent: (input, content) => ({ ...input, content }),
  run: async ({ path, content }, run) => {
    const done = await applyFileChange(run, path, () => content);
    const text = `${done.created ? 'Created' : 'Replaced the content of'} ${done.path} (${countWithNoun(done.bytes, 'byte')}).`;
    return { text, summary: `wrote ${done.path} (${countWithNoun(done.bytes, 'byte')})` };
  },
});
