/** The verbs that look at the workspace: read, list, search. */
import type { PlannedCall } from './step.ts';
import { TOOL } from './tool-names.ts';
import { nameOf, skip, textOf, Unclear, wordOf, type Words } from './words.ts';

const BEFORE_READ = new Set(['the', 'contents', 'content', 'of', 'file']);
const BEFORE_LIST = new Set([
  'all',
  'the',
  'files',
  'file',
  'folder',
  'directory',
  'contents',
  'in',
  'of',
  'under',
  'here',
]);
const BEFORE_PATTERN = new Set(['for', 'the', 'text', 'word']);
const FILES = new Set(['all', 'the', 'files', 'file']);
const BEFORE_GLOB = new Set(['named', 'called', 'matching', 'like']);

/** `read PATH` */
export function read(words: Words, from: number): PlannedCall | Unclear {
  const name = onlyName(words, skip(words, from, BEFORE_READ));
  if (name === undefined)
    return new Unclear('expected the name of one file; a name with spaces goes in quotes');
  return { tool: TOOL.read, input: { path: name } };
}

/** `list [files] [in PATH]` */
export function list(words: Words, from: number): PlannedCall | Unclear {
  const at = skip(words, from, BEFORE_LIST);
  if (words.tokens[at] === undefined) return { tool: TOOL.list, input: {} };
  const name = onlyName(words, at);
  if (name === undefined)
    return new Unclear('expected the name of one directory; a name with spaces goes in quotes');
  return { tool: TOOL.list, input: { path: name } };
}

/** `search for TEXT [in PLACE]`, `find files named GLOB [in PLACE]`, `find *.ts`. A place is a file, a directory or a glob. */
export function search(words: Words, from: number): PlannedCall | Unclear {
  const place = words.tokens.length - 2;
  const last = words.tokens.at(-1);
  const limited = last !== undefined && place > from && wordOf(words.tokens[place]) === 'in';
  const where = limited ? placeOf(nameOf(last)) : {};
  const what = limited ? { ...words, tokens: words.tokens.slice(0, place) } : words;

  const files = skip(what, from, FILES);
  const named = files > from && BEFORE_GLOB.has(wordOf(what.tokens[files]));
  const glob = onlyName(what, named ? files + 1 : from);
  if (named || (glob?.includes('*') && what.tokens[from]?.type === 'word'))
    return glob === undefined ? new Unclear('expected one pattern of file names') : found({ ...where, glob });
  const start = skip(what, from, BEFORE_PATTERN);
  if (what.tokens[start] === undefined) return new Unclear('what to search for is missing');
  const pattern = textOf(what, start);
  if (pattern === '') return new Unclear('what to search for is empty');
  return pattern instanceof Unclear ? pattern : found({ pattern, ...where });
}

function placeOf(name: string): { glob: string } | { path: string } {
  return /[*?{]/.test(name) ? { glob: name } : { path: name };
}

function found(input: Record<string, unknown>): PlannedCall {
  return { tool: TOOL.search, input };
}

function onlyName(words: Words, at: number): string | undefined {
  const token = words.tokens[at];
  return token !== undefined && words.tokens.length === at + 1 ? nameOf(token) : undefined;
}
