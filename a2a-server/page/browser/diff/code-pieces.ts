/** Splits lines of code into pieces, so that each kind of word can have its own colour. Pure. */
import { createContext } from 'preact';

/** A part of one line. `kind` is a class of highlight.js without its prefix. */
export interface HighlightedPiece {
  text: string;
  kind?: string;
}

export type HighlightLanguage =
  | 'bash'
  | 'c'
  | 'cpp'
  | 'csharp'
  | 'css'
  | 'dockerfile'
  | 'go'
  | 'ini'
  | 'java'
  | 'javascript'
  | 'json'
  | 'kotlin'
  | 'makefile'
  | 'php'
  | 'python'
  | 'ruby'
  | 'rust'
  | 'sql'
  | 'swift'
  | 'typescript'
  | 'xml'
  | 'yaml';

const EXTENSIONS: Readonly<Record<string, HighlightLanguage>> = {
  bash: 'bash',
  c: 'c',
  cc: 'cpp',
  cjs: 'javascript',
  cpp: 'cpp',
  cs: 'csharp',
  css: 'css',
  cts: 'typescript',
  go: 'go',
  h: 'cpp',
  hpp: 'cpp',
  htm: 'xml',
  html: 'xml',
  ini: 'ini',
  java: 'java',
  js: 'javascript',
  json: 'json',
  jsonc: 'json',
  jsx: 'javascript',
  kt: 'kotlin',
  kts: 'kotlin',
  mjs: 'javascript',
  mk: 'makefile',
  mts: 'typescript',
  php: 'php',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  scss: 'css',
  sh: 'bash',
  sql: 'sql',
  svg: 'xml',
  swift: 'swift',
  toml: 'ini',
  ts: 'typescript',
  tsx: 'typescript',
  xml: 'xml',
  yaml: 'yaml',
  yml: 'yaml',
  zsh: 'bash',
};
const NAMES: Readonly<Record<string, HighlightLanguage>> = { dockerfile: 'dockerfile', makefile: 'makefile' };

/** Returns the language of a file. Returns undefined if the name of the file says nothing about it. */
export function highlightLanguageOf(path: string): HighlightLanguage | undefined {
  const name = (path.split('/').at(-1) ?? '').toLowerCase();
  const extension = name.split('.').at(-1) ?? '';
  if (Object.hasOwn(NAMES, name)) return NAMES[name];
  return name.includes('.') && Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined;
}

/** Splits the lines of a text into pieces. The pieces together are exactly the text. */
export type Highlighter = (text: string, language: HighlightLanguage | undefined) => HighlightedPiece[][];

/** Splits a text into lines without colours. */
export const unhighlightedLines: Highlighter = (text) => text.split('\n').map((line) => [{ text: line }]);

/**
 * Colours the code of diffs. Only the approval page sets it. The approval card is one file, and the highlighter would
 * make that file much larger.
 */
export const HighlighterContext = createContext<Highlighter>(unhighlightedLines);
