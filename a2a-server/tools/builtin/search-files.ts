import { posix } from 'node:path';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { findMatchingLines } from '../search/content-search.ts';
import { createFilterByGlob, type FilterByGlob } from '../search/filter-by-glob.ts';
import { createLineMatcher, type LineMatcher } from '../search/line-matcher.ts';
import { SearchReport } from '../search/search-report.ts';
import type { Tool, ToolRun } from '../tool.ts';
import type { TreeDirectory } from '../workspace/walk-tree.ts';

const schema = z
  .strictObject({
    pattern: z.string().min(1).max(1000).optional().describe('The text to find in each line of each file.'),
    regex: z
      .boolean()
      .default(false)
      .describe(
        'The pattern is a regular expression (JavaScript). Otherwise the tool looks for the exact text.',
      ),
    caseSensitive: z.boolean().default(true).describe('Whether upper and lower case must match.'),
    glob: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe('Search only files with a matching name, e.g. *.ts (at any depth) or src/**/*.{ts,tsx}.'),
    path: z.string().default('.').describe('Directory or file to search, relative to the workspace.'),
    includeIgnored: z.boolean().default(false).describe('Also search the files that .gitignore excludes.'),
    maxResults: z.int().min(1).max(1000).default(200).describe('The maximum number of results.'),
  })
  .refine(({ pattern, glob }) => pattern !== undefined || glob !== undefined, {
    message: 'give glob to find files by name, pattern to find lines, or both',
  });
type Search = z.infer<typeof schema>;

export const searchFilesTool: Tool = defineTool({
  name: 'search-files',
  description:
    'Searches the workspace: files by name (glob), lines by content (pattern, one line at a time), or both. Results are path:line: text.',
  sideEffect: 'none',
  schema,
  timeoutMs: () => 60_000,
  title: ({ pattern, glob, path }) => {
    const what = pattern === undefined ? 'files' : `"${oneLineExcerpt(pattern, 60)}"`;
    const where = [
      ...(glob === undefined ? [] : [oneLineExcerpt(glob, 60)]),
      ...(path === '.' ? [] : [oneLineExcerpt(path, 60)]),
    ];
    return `Search for ${what}${where.length === 0 ? '' : ` in ${where.join(', ')}`}`;
  },
  reach: ({ path }) => ({ paths: [path] }),
  show: async (input, { workspace }) => {
    await workspace.locate(input.path);
    if (input.pattern !== undefined) createLineMatcher({ ...input, pattern: input.pattern });
    return { preview: { type: 'json', value: input }, basis: null };
  },
  run: async (input, run) => {
    const report = new SearchReport(input.maxResults, looksLikeRegex(input) ? EXACT_TEXT_NOTE : undefined);
    const matcher =
      input.pattern === undefined ? undefined : createLineMatcher({ ...input, pattern: input.pattern });
    const { kind, path } = await run.workspace.locate(input.path);
    const glob = input.glob === undefined ? undefined : await createFilterByGlob(input.glob);
    if (kind !== 'entry') await searchTree(input, { matcher, report, glob }, run);
    else if (await matchesNamedFile(path, glob)) await searchFile(path, { matcher, report }, run);
    return report.result(matcher === undefined ? 'file' : 'match');
  },
});

/**
 * The note if nothing was found and the pattern looks like a regular expression. Most models expect that the tool
 * searches for a regular expression. Without the note, they would believe that no line matches.
 */
const EXACT_TEXT_NOTE =
  'The tool looked for the exact text of the pattern. If the pattern is a regular expression, set regex';

function looksLikeRegex({ pattern = '', regex }: Search): boolean {
  return !regex && /[\\|*+?^$]/.test(pattern);
}

const FILES_AT_ONCE = 8;
/** The maximum size of a searched file. This size times FILES_AT_ONCE limits the memory of the search. */
const MAX_BYTES = 2 * 1024 * 1024;

interface SearchInProgress {
  /** Matches the lines of a file. Undefined if the search is only by file name. */
  matcher: LineMatcher | undefined;
  report: SearchReport;
  glob: FilterByGlob | undefined;
}

/** True if the glob matches the name of the file, or its path in the workspace. */
async function matchesNamedFile(path: string, glob: FilterByGlob | undefined): Promise<boolean> {
  return glob === undefined || (await glob([posix.basename(path), path])).length > 0;
}

/** Searches one file that the caller names. @throws Error if the file cannot be read */
async function searchFile(
  path: string,
  { matcher, report }: Omit<SearchInProgress, 'glob'>,
  { workspace, signal }: ToolRun,
): Promise<void> {
  if (matcher === undefined) return report.file(path);
  const file = await workspace.read(path);
  if (file === undefined) throw new Error(`There is no "${path}" in the workspace.`);
  const found = await findMatchingLines([file.content], { matcher, most: report.room + 1, signal });
  return report.matches(path, found);
}

async function searchTree(
  input: Search,
  { matcher, report, glob }: SearchInProgress,
  { workspace, signal, mayRead }: ToolRun,
): Promise<void> {
  let start: string | undefined;
  await workspace.walk(input.path, { signal, includeIgnored: input.includeIgnored }, async (directory) => {
    start ??= directory.path;
    if (directory.cut) report.cut();
    const pathOf = (name: string) => (directory.path === '' ? name : `${directory.path}/${name}`);
    const found = await matchingNames(directory, start, glob);
    const names = found.filter((name) => mayRead(pathOf(name)));
    report.hide(found.length - names.length);
    if (matcher === undefined) for (const name of names) report.file(pathOf(name));
    else {
      for (let next = 0; next < names.length && !report.full; next += FILES_AT_ONCE) {
        const some = await readFiles(directory, names.slice(next, next + FILES_AT_ONCE), report);
        const texts = some.map(({ content }) => content);
        const lines = await findMatchingLines(texts, { matcher, most: report.room + 1, signal });
        for (const [index, { name }] of some.entries()) {
          report.matches(
            pathOf(name),
            lines.filter(({ text }) => text === index),
          );
        }
      }
    }
    return report.full ? 'stop' : 'go on';
  });
}

/** Reads the files together. Counts and skips the files that cannot be read. */
async function readFiles(
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

/** Returns the file names that match the glob. The glob is relative to the directory where the search starts. */
async function matchingNames(
  { path, entries }: TreeDirectory,
  start: string,
  glob: FilterByGlob | undefined,
): Promise<string[]> {
  const names = entries.filter(({ kind }) => kind === 'file').map(({ name }) => name);
  if (glob === undefined) return names;
  const below = path === start ? '' : `${path.slice(start === '' ? 0 : start.length + 1)}/`;
  const found = await glob(names.map((name) => below + name));
  return found.map((match) => match.slice(below.length));
}
