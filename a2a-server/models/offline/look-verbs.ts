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

/** `search for TEXT [in GLOB]`, `find files named GLOB`, `find *.ts` */
export function search(words: Words, from: number): PlannedCall | Unclear {
  const files = skip(words, from, FILES);
  if (files > from && BEFORE_GLOB.has(wordOf(words.tokens[files]))) {
    const glob = onlyName(words, files + 1);
    return glob === undefined ? new Unclear('expected one pattern of file names') : found({ glob });
  }
  const only = onlyName(words, from);
  if (only !== undefined && words.tokens[from]?.type === 'word' && only.includes('*'))
    return found({ glob: only });
  const start = skip(words, from, BEFORE_PATTERN);
  if (words.tokens[start] === undefined) return new Unclear('what to search for is missing');
  const place = words.tokens.length - 2;
  const limited = place > start && wordOf(words.tokens[place]) === 'in';
  const pattern = textOf(words, start, limited ? place : words.tokens.length);
  const last = words.tokens.at(-1);
  if (pattern instanceof Unclear) return pattern;
  return found({ pattern, ...(limited && last !== undefined && { glob: globOf(nameOf(last)) }) });
}

/** A directory means all files below it. */
function globOf(name: string): string {
  if (/[*?[{]/.test(name) || /\.\w+$/.test(name)) return name;
  return `${name.replace(/\/$/, '')}/**`;
}

function found(input: Record<string, unknown>): PlannedCall {
  return { tool: TOOL.search, input };
}

function onlyName(words: Words, at: number): string | undefined {
  const token = words.tokens[at];
  return token !== undefined && words.tokens.length === at + 1 ? nameOf(token) : undefined;
}
