/** `search-files`: files by name, lines by content, or both. */
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { oneLine } from './one-line.ts';
import { searchTexts } from './search/content-search.ts';
import { globMatcher, type GlobMatcher } from './search/glob-matcher.ts';
import { lineMatcher, type LineMatcher } from './search/line-matcher.ts';
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
  reach: ({ path }) => ({ trees: [path] }),
  show: async (input, { workspace }) => {
    await workspace.locate(input.path);
    if (input.pattern !== undefined) lineMatcher({ ...input, pattern: input.pattern });
    return { preview: { type: 'json', value: input }, basis: null };
  },
  run: async (input, run) => {
    const report = new SearchReport(input.maxResults);
    const matcher =
      input.pattern === undefined ? undefined : lineMatcher({ ...input, pattern: input.pattern });
    const { kind, path } = await run.workspace.locate(input.path);
    if (kind === 'entry') await searchFile(path, { matcher, report }, run);
    else await searchTree(input, { matcher, report }, run);
    return report.result(matcher === undefined ? 'file' : 'match');
  },
});

/** Files read and matched together. */
const AT_ONCE = 8;
/** Larger files are left out of a search of many; with those at once they bound what it holds. */
const MAX_BYTES = 2 * 1024 * 1024;

interface Going {
  /** Undefined for a search by name alone. */
  matcher: LineMatcher | undefined;
  report: SearchReport;
}

/** One file asked for by name: what keeps it from being read is an error. */
async function searchFile(
  path: string,
  { matcher, report }: Going,
  { workspace, signal }: ToolRun,
): Promise<void> {
  if (matcher === undefined) return report.file(path);
  const file = await workspace.read(path);
  if (file === undefined) throw new Error(`There is no "${path}" in the workspace.`);
  const found = await searchTexts([file.content], { matcher, most: report.room + 1, signal });
  return report.matches(path, found);
}

async function searchTree(
  input: Search,
  { matcher, report }: Going,
  { workspace, signal }: ToolRun,
): Promise<void> {
  const glob = input.glob === undefined ? undefined : await globMatcher(input.glob);
  let start: string | undefined;
  await workspace.walk(input.path, { signal, includeIgnored: input.includeIgnored }, async (directory) => {
    start ??= directory.path;
    if (directory.cut) report.cut();
    const names = await matchingNames(directory, start, glob);
    const pathOf = (name: string) => (directory.path === '' ? name : `${directory.path}/${name}`);
    if (matcher === undefined) for (const name of names) report.file(pathOf(name));
    else {
      for (let next = 0; next < names.length && !report.full; next += AT_ONCE) {
        const some = await readable(directory, names.slice(next, next + AT_ONCE), report);
        const texts = some.map(({ content }) => content);
        const found = await searchTexts(texts, { matcher, most: report.room + 1, signal });
        for (const [index, { name }] of some.entries()) {
          report.matches(
            pathOf(name),
            found.filter(({ text }) => text === index),
          );
        }
      }
    }
    return report.full ? 'stop' : 'go on';
  });
}

/** The files that can be searched; of many, those that cannot are counted and passed over. */
async function readable(
  directory: TreeDirectory,
  names: readonly string[],
  report: SearchReport,
): Promise<{ name: string; content: string }[]> {
  const files = await Promise.all(
    names.map(async (name) => ({ name, file: await directory.read(name, MAX_BYTES).catch(() => undefined) })),
  );
  return files.flatMap(({ name, file }) => {
    if (file !== undefined) return [{ name, content: file.content }];
    report.skip();
    return [];
  });
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
