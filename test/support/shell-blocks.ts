/** Finds the shell commands of the documents, and says which blocks a test can run. */
import { readFileSync } from 'node:fs';
import { parse } from 'shell-quote';
import { globSync } from 'tinyglobby';

/** In the documents, this code stands for the code of the reader's action. */
export const CODE = '4f2ac901';

export const PROGRAMS = { 'mcp-a2a-bridge': 'dist/bridge/main.js', 'a2a-server': 'dist/a2a-server/main.js' };
export type ProgramName = keyof typeof PROGRAMS;

export interface ShellBlock {
  page: string;
  /** The heading above it. */
  section: string;
  commands: string;
  /** The reason in a mark above the block, or of a rule. Undefined if a test runs the block. */
  notRun: string | undefined;
}

/** A command of a block: its words, without variables that are set for it. */
export type ShellCommand = readonly string[];

export function readBlocks(): ShellBlock[] {
  return globSync(['README.md', 'docs/**/*.md'])
    .toSorted()
    .flatMap((page) => blocksOf(page, readFileSync(page, 'utf8')));
}

const BLOCK = /(?:<!-- not run: (.+?) -->\s+)?^ *```(\w*)\n([^]*?)\n *```$/gm;

export function blocksOf(page: string, text: string): ShellBlock[] {
  return [...text.matchAll(BLOCK)].flatMap(([, mark, language = '', body = ''], at, all) => {
    const section = /^#+ (.+)$/m.exec(
      text
        .slice(0, all[at]?.index)
        .split(/^(?=#+ )/m)
        .at(-1) ?? '',
    )?.[1];
    if (language === 'sh')
      return { page, section: section ?? '', commands: body, notRun: mark ?? reasonOf(body) };
    // A transcript has commands behind `$ `, and what they print.
    const typed = [...body.matchAll(/^\$ (.+)$/gm)].map(([, command = '']) => command);
    if (typed.length === 0) return [];
    return {
      page,
      section: section ?? '',
      commands: typed.join('\n'),
      notRun: 'it shows what commands print',
    };
  });
}

/** Programs that every machine of a reader has, and that change nothing outside of the test's directory. */
const HARMLESS = new Set(['cat', 'curl', 'ls', 'node', ...Object.keys(PROGRAMS)]);
/** The programs as npx starts them from the published package. */
const WITH_NPX: readonly (readonly [ProgramName, readonly string[]])[] = [
  ['mcp-a2a-bridge', ['npx', '-y', 'mcp-a2a-bridge']],
  ['a2a-server', ['npx', '-y', '-p', 'mcp-a2a-bridge', 'a2a-server']],
];
/** The tests run in an installed clone. */
export const INSTALLS = /^npm ci\b/gm;

function reasonOf(commands: string): string | undefined {
  const each = commandsOf(commands.replaceAll(INSTALLS, '#'));
  const other = each.find((words) => !HARMLESS.has(words[0] ?? '') && programCall(words) === undefined);
  if (other !== undefined) return `it needs ${other[0]}`;
  const text = commands.replaceAll(/(^|\s)#.*$/gm, '').replaceAll(CODE, '');
  if (/…|<\w|example\.com|\b(?=\w*\d)[0-9a-f]{4,}\b(?!-)/.test(text.replaceAll(/\d{4,5}\b/g, '')))
    return 'it has a placeholder';
  if (each.some(startsServer)) return 'it starts a server that goes on';
  const used = [...text.matchAll(/\$([A-Z]\w*)/g)].map(([, name = '']) => name);
  const own = used.find((name) => name !== 'HOME' && !new RegExp(`\\b${name}=`).test(text));
  return own === undefined ? undefined : `it needs a value for ${own}`;
}

/** A command line without a command of the program serves. */
function startsServer(words: ShellCommand): boolean {
  const { name, args } = programCall(words) ?? {};
  return name !== undefined && (args?.[0] ?? '-').startsWith('-');
}

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

/** Splits at the ends of lines that end a command: not inside of quotes, and not behind a backslash. */
function logicalLines(text: string): string[] {
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
  return !/['"]/.test(outside);
}
