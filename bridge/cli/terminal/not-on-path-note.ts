/**
 * Explains how to run the programs. Hints in the output contain the names `mcp-a2a-bridge` and `a2a-server`, without
 * flags. The programs may not be in PATH, for instance in a clone, or the person may have named other settings with
 * flags. A note below the output then says what to type instead.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { shellWord } from './command-word.ts';
import { currentDirectory } from '../../settings/current-directory.ts';
import type { BuiltProgramPaths } from '../../settings/program-paths.ts';

const HINTS = {
  // `mcp-a2a-bridge agent` is the name of the local server's agent, and not a command.
  'mcp-a2a-bridge': /mcp-a2a-bridge (?:(?!agent\b)[a-z]|--help)/,
  'a2a-server': /[`"]a2a-server [a-z]/,
} as const;
type ProgramName = keyof typeof HINTS;
const NAMES: readonly ProgramName[] = ['mcp-a2a-bridge', 'a2a-server'];

/**
 * The flags that decide which tasks a command finds, by the name of their option. Without these flags, a command would
 * not find the tasks that the hints name.
 */
const FLAGS: Readonly<Record<ProgramName, Readonly<Record<string, string>>>> = {
  'mcp-a2a-bridge': {
    stateDir: '--state-dir',
    config: '--config',
    agentUrl: '--agent-url',
    agentTokenEnv: '--agent-token-env',
    agentDialect: '--agent-dialect',
  },
  'a2a-server': { stateDir: '--state-dir', config: '--config' },
};

type Paths = Pick<BuiltProgramPaths, 'bridgeScript' | 'serverScript'>;

interface NoteContext {
  paths: Paths;
  /** The directory in which the person types. Undefined if it was deleted. */
  cwd: string | undefined;
  /** The variable PATH. */
  path: string | undefined;
  /** The options on the command line, by name. */
  options: Readonly<Record<string, unknown>>;
}

export class NotOnPathNote {
  readonly #hinted = new Set<ProgramName>();

  /** Records which programs the hints in an output name. */
  recordHints(output: string): void {
    for (const name of NAMES) if (HINTS[name].test(output)) this.#hinted.add(name);
  }

  /** Returns the note. Undefined if there was no hint, or if the person can type the hints as they are. */
  text({ paths, cwd, path, options }: NoteContext): string | undefined {
    const scripts = { 'mcp-a2a-bridge': paths.bridgeScript, 'a2a-server': paths.serverScript };
    const lines = NAMES.filter((name) => this.#hinted.has(name)).flatMap((name) => {
      const installed = isOnPath(name, path);
      const flags = flagsIn(options, name);
      if (installed && flags.length === 0) return [];
      const command = installed ? [name] : ['node', shellWord(shortPath(scripts[name], cwd))];
      return [`Here, ${name} is: ${[...command, ...flags.map(shellWord)].join(' ')}`];
    });
    return lines.length === 0 ? undefined : lines.join('\n');
  }
}

/**
 * Prints the note below the output. The note says how to type the commands that the output names. Only a person needs
 * the note, so it is printed only to a terminal.
 */
export function printNotOnPathNote(
  note: NotOnPathNote,
  paths: Paths,
  options: NoteContext['options'],
  paint: (text: string) => string = (text) => text,
): void {
  const { stderr, env } = process;
  const text = note.text({ paths, cwd: currentDirectory(), path: env['PATH'], options });
  if (text !== undefined && stderr.isTTY) stderr.write(`${paint(text)}\n`);
}

function flagsIn(options: NoteContext['options'], name: ProgramName): readonly string[] {
  return Object.entries(FLAGS[name]).flatMap(([option, flag]) => {
    const value = options[option];
    return typeof value === 'string' ? [flag, value] : [];
  });
}

/** Returns true if a directory of PATH has an executable file of this name. */
function isOnPath(name: string, path: string | undefined): boolean {
  return (path ?? '').split(delimiter).some((directory) => {
    // npx adds a directory to PATH for one run only. So a program in that directory does not count.
    if (directory === '' || directory.includes('_npx')) return false;
    try {
      const file = join(directory, name);
      accessSync(file, constants.X_OK);
      // A directory may have this name too, e.g. `a2a-server` in a clone. So the path must be a file.
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}

function shortPath(script: string, cwd: string | undefined): string {
  if (cwd === undefined) return script;
  const path = relative(cwd, script);
  return path.startsWith('..') ? script : path;
}
