import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import type { Tool } from '../tool.ts';
import { removalHash } from '../workspace/removal-tree.ts';

const schema = z.strictObject({
  path: z.string().min(1).describe('File, relative to the workspace.'),
  to: z
    .string()
    .min(1)
    .describe(
      'Its new name, relative to the workspace. The tool creates missing directories and never overwrites a file.',
    ),
});

export const moveFileTool: Tool = defineTool({
  name: 'move-file',
  description: 'Moves or renames a text or binary file of the workspace. Never overwrites a file.',
  sideEffect: 'files',
  startsWithFirstChange: true,
  schema,
  timeoutMs: () => 30_000,
  title: ({ path, to }) => `Move ${oneLineExcerpt(path)} to ${oneLineExcerpt(to)}`,
  reach: ({ path, to }) => ({ entries: [path], paths: [to] }),
  show: async ({ path, to }, { workspace, signal }) => {
    const target = await workspace.destination(path, to);
    const found = await workspace.survey(path, signal);
    return {
      preview: { type: 'json', value: { moves: found.path, to: target, bytes: found.bytes } },
      basis: removalHash(found),
    };
  },
  run: async ({ path, to }, { workspace, basis, signal }) => {
    const target = await workspace.destination(path, to);
    await workspace.move(path, to, { basis, signal });
    const said = `${oneLineExcerpt(path)} to ${oneLineExcerpt(target)}`;
    return { text: `Moved ${said}.`, summary: `moved ${said}` };
  },
});
