/** Finds the shell commands of the documents. */
import { readFileSync } from 'node:fs';
import { parse } from 'shell-quote';
import { globSync } from 'tinyglobby';

export const PROGRAMS = { 'mcp-a2a-bridge': 'dist/bridge/main.js', 'a2a-server': 'dist/a2a-server/main.js' };
export type ProgramName = keyof typeof PROGRAMS;

/** A command of a transcript, and what it prints. */
export interface Shown {
  command: string;
  printed: string;
}

export interface ShellBlock {
  page: string;
  /** The heading above it. */
  section: string;
  commands: string;
  /** Absent if the block has only commands. */
  transcript?: readonly Shown[];
}

/** A command of a block: its words, without variables that are set for it. */
export type ShellCommand = readonly string[];

export function readBlocks(): ShellBlock[] {
  return globSync(['README.md', 'docs/**/*.md'])
    .toSorted()
    .flatMap((page) => blocksOf(page, readFileSync(page, 'utf8')));
}

const BLOCK = /^ *```(\w*)\n([^]*?)\n *```$/gm;

export function blocksOf(page: string, text: string): ShellBlock[] {
  return [...text.matchAll(BLOCK)].flatMap(({ index, 1: language = '', 2: body = '' }) => {
    const above = text
      .slice(0, index)
      .split(/^(?=#+ )/m)
      .at(-1);
    const section = /^#+ (.+)$/m.exec(above ?? '')?.[1] ?? '';
    if (language === 'sh') return { page, section, commands: body };
    const transcript = transcriptOf(body);
    if (transcript.length === 0) return [];
    return { page, section, commands: transcript.map(({ command }) => command).join('\n'), transcript };
  });
}

/** A transcript has each command behind `$ `, and below it what the command prints. */
function transcriptOf(body: string): Shown[] {
  return body.split(/^\$ /m).flatMap((part, at) => {
    const [command = '', ...printed] = part.split('\n');
    return at === 0 ? [] : { command, printed: printed.join('\n') };
  });
}

/** The programs as npx starts them from the published package. */
const WITH_NPX: readonly (readonly [ProgramName, readonly string[]])[] = [
  ['mcp-a2a-bridge', ['npx', '-y', 'mcp-a2a-bridge']],
  ['a2a-server', ['npx', '-y', '-p', 'mcp-a2a-bridge', 'a2a-server']],
];

/** Returns the program of this project that the command runs, and its arguments. */
export function programCall(words: ShellCommand): { name: ProgramName; args: readonly string[] } | undefined {
  const [first = '', second = '', ...rest] = words;
  for (const name of ['mcp-a2a-bridge', 'a2a-server'] as const) {
    if (first === name) return { name, args: words.slice(1) };
    if (first === 'node' && second === PROGRAMS[name]) return { name, args: rest };
  }
  const npx = WITH_NPX.find(([, start]) => start.every((word, at) => words[at] === word));
  return npx && { name: npx[0], args: words.slice(npx[1].length) };
}

/** Returns the commands of a text for the shell, also those in pipelines and substitutions. */
export function commandsOf(text: string): ShellCommand[] {
  return logicalLines(text).flatMap((line) => {
    const commands: string[][] = [[]];
    for (const token of parse(line.replaceAll(/<(\w[\w-]*)>/g, '$1'), (name) => `$${name}`)) {
      if (typeof token === 'string') commands.at(-1)?.push(token);
      else if ('op' in token && token.op !== 'glob') commands.push([]);
    }
    return commands
      .map((words) => words.slice(words.findIndex((word) => !/^\w+=/.test(word))))
      .filter(([name = '']) => name !== '' && !/^\w+=/.test(name) && !/^[\d&>]/.test(name));
  });
}

/**
 * Splits at the ends of commands. A line does not end a command within quotes or parentheses, or after a backslash or a
 * pipe.
 */
export function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let open = '';
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    open = open === '' ? line : `${open}\n${line}`;
    if (isClosed(open)) {
      lines.push(open);
      open = '';
    }
  }
  return open === '' ? lines : [...lines, open];
}

function isClosed(text: string): boolean {
  const outside = text
    .replaceAll(/\\./g, '')
    .replaceAll(/'[^']*'|"[^"]*"/g, '')
    .replaceAll(/(^|\s)#.*$/gm, '');
  const depth = outside.split('(').length - outside.split(')').length;
  return depth === 0 && !/['"]|\|\s*$/.test(outside);
}
