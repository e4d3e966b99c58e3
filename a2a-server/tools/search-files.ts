/** `search-files`: files by name, lines by content, or both. */
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { oneLine } from './one-line.ts';
import { ContentSearch } from './search/content-search.ts';
import { globMatcher, type GlobMatcher } from './search/glob-matcher.ts';
import { lineMatcher } from './search/line-matcher.ts';
import { SearchReport } from './search/search-report.ts';
import type { Tool, ToolRun } from './tool.ts';
import type { TreeDirectory } from './workspace/tree.ts';

const schema = z
  .strictObject({
    pattern: z.string().min(1).max(1000).optional().describe('What to look for in each line of each file.'),
    regex: z
      .boolean()
      .default(false)
      .describe('The pattern is a regular expression (JavaScript). Otherwise it is looked for as it stands.'),
    caseSensitive: z.boolean().default(true).describe('Whether the pattern tells A from a.'),
    glob: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe('Only files with such a name, e.g. *.ts (at any depth) or src/**/*.{ts,tsx}.'),
    path: z.string().default('.').describe('Directory or file to search, relative to the workspace.'),
    includeIgnored: z.boolean().default(false).describe('Also look at what .gitignore files leave out.'),
    maxResults: z.int().min(1).max(1000).default(200).describe('Stop after so many results.'),
  })
  .refine(({ pattern, glob }) => pattern !== undefined || glob !== undefined, {
    message: 'give glob to find files by name, pattern to find lines, or both',
  });
type Search = z.infer<typeof schema>;

export const searchFiles: Tool = defineTool({
  name: 'search-files',
  description:
    'Searches the workspace: files by name (glob), lines by content (pattern, one line at a time), or both. Results are path:line: text.',
  sideEffect: 'none',
  schema,
  timeoutMs: () => 60_000,
  title: ({ pattern, glob, path }) => {
    const what = pattern === undefined ? 'files' : `"${oneLine(pattern, 60)}"`;
    const where = [
      ...(glob === undefined ? [] : [oneLine(glob, 60)]),
      ...(path === '.' ? [] : [oneLine(path, 60)]),
    ];
    return `Search for ${what}${where.length === 0 ? '' : ` in ${where.join(', ')}`}`;
  },
  show: async (input, { workspace }) => {
    await workspace.locate(input.path);
    if (input.pattern !== undefined) lineMatcher({ ...input, pattern: input.pattern });
    return { preview: { type: 'json', value: input }, basis: null };
  },
  run: async (input, run) => {
    const report = new SearchReport(input.maxResults);
    const search =
      input.pattern === undefined
        ? undefined
        : new ContentSearch(lineMatcher({ ...input, pattern: input.pattern }), run.signal);
    const { kind, path } = await run.workspace.locate(input.path);
    if (kind === 'entry') await searchFile({ path, search, report }, run);
    else await searchTree(input, { search, report }, run);
    return report.result(search === undefined ? 'file' : 'match');
  },
});

interface Going {
  search: ContentSearch | undefined;
  report: SearchReport;
}

/** One file asked for by name: what keeps it from being read is an error. */
async function searchFile(
  { path, search, report }: Going & { path: string },
  { workspace }: ToolRun,
): Promise<void> {
  if (search === undefined) return report.file(path);
  const file = await workspace.read(path);
  if (file === undefined) throw new Error(`There is no "${path}" in the workspace.`);
  return report.matches(path, await search.search(file.content, report.room + 1));
}

async function searchTree(
  input: Search,
  { search, report }: Going,
  { workspace, signal }: ToolRun,
): Promise<void> {
  const glob = input.glob === undefined ? undefined : await globMatcher(input.glob);
  let start: string | undefined;
  await workspace.walk(input.path, { signal, includeIgnored: input.includeIgnored }, async (directory) => {
    start ??= directory.path;
    if (directory.cut) report.cut();
    for (const name of await matchingNames(directory, start, glob)) {
      if (report.room === 0) {
        report.cut();
        return 'stop';
      }
      const path = directory.path === '' ? name : `${directory.path}/${name}`;
      if (search === undefined) {
        report.file(path);
        continue;
      }
      signal.throwIfAborted();
      const content = await contentOf(directory, name);
      if (content === undefined) report.skip();
      else report.matches(path, await search.search(content, report.room + 1));
    }
    return 'go on';
  });
}

/** A file that cannot be read is left out of a search of many. */
async function contentOf(directory: TreeDirectory, name: string): Promise<string | undefined> {
  try {
    return (await directory.read(name)).content;
  } catch {
    return undefined;
  }
}

/** Globs are relative to where the search began. */
async function matchingNames(
  { path, entries }: TreeDirectory,
  start: string,
  glob: GlobMatcher | undefined,
): Promise<string[]> {
  const names = entries.filter(({ kind }) => kind === 'file').map(({ name }) => name);
  if (glob === undefined) return names;
  const below = path === start ? '' : `${path.slice(start === '' ? 0 : start.length + 1)}/`;
  const found = await glob(names.map((name) => below + name));
  return found.map((match) => match.slice(below.length));
}
