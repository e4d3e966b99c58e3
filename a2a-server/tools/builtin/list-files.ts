import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { countWithNoun, oneLineExcerpt } from '../../../shared/text/one-line.ts';
import type { Tool } from '../tool.ts';
import type { DirectoryEntry } from '../workspace/directory-entries.ts';

/** The maximum number of listed names. More names would fill the model's context. */
const MAX_NAMES = 1000;

const schema = z.strictObject({
  path: z
    .string()
    .default('.')
    .describe('Directory, relative to the workspace. The default is the workspace itself.'),
  recursive: z
    .boolean()
    .default(false)
    .describe('Also list subdirectories, without the files that .gitignore excludes.'),
});

export const listFilesTool: Tool = defineTool({
  name: 'list-files',
  description:
    'Lists a directory of the workspace: one name per line, directories end with /, symbolic links show where they point.',
  sideEffect: 'none',
  schema,
  timeoutMs: () => 60_000,
  title: ({ path }) => `List ${oneLineExcerpt(path)}`,
  reach: ({ path }) => ({ paths: [path] }),
  show: async (input, { workspace }) => {
    await workspace.locate(input.path);
    return { preview: { type: 'json', value: input }, basis: null };
  },
  run: async ({ path, recursive }, { workspace, signal, mayRead }) => {
    const lines: string[] = [];
    const hidden: string[] = [];
    let cut = false;
    if (recursive) {
      let start: string | undefined;
      await workspace.walk(path, { signal, includeIgnored: false }, async (directory) => {
        start ??= directory.path;
        const prefix = directory.path === '' ? '' : `${directory.path}/`;
        // The policy rules have already allowed this call to list the first directory. So only the directories below
        // are checked.
        if (directory.path !== start && !mayRead(directory.path)) {
          hidden.push(prefix);
          return 'skip';
        }
        cut ||= directory.cut;
        lines.push(...directory.entries.map((entry) => prefix + lineOf(entry)));
        return lines.length > MAX_NAMES ? 'stop' : 'go on';
      });
    } else {
      const found = await workspace.list(path);
      cut = found.cut;
      lines.push(...found.entries.map(lineOf));
    }
    const shown = lines.slice(0, MAX_NAMES);
    const note = cut || shown.length < lines.length ? ['[There is more; list a subdirectory.]'] : [];
    const left =
      hidden.length === 0
        ? []
        : [`[A rule of the operator hides what is in ${oneLineExcerpt(hidden.join(', '), 500)}]`];
    return {
      text: lines.length === 0 ? '[The directory is empty.]' : [...shown, ...note, ...left].join('\n'),
      summary: `listed ${oneLineExcerpt(path)} (${countWithNoun(shown.length, 'name')}${note.length > 0 ? ', not all' : ''})`,
    };
  },
});

function lineOf({ name, kind, target }: DirectoryEntry): string {
  const shown = oneLineExcerpt(name, 255);
  switch (kind) {
    case 'directory':
      return `${shown}/`;
    case 'link':
      return `${shown} -> ${oneLineExcerpt(target ?? '?', 255)}`;
    case 'other':
      return `${shown} [not a regular file]`;
    case 'file':
      return shown;
  }
}
