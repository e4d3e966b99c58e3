/**
 * Explains how to run the programs if they are not in PATH, for instance in a clone. Hints in the output contain the
 * names `mcp-a2a-bridge` and `a2a-server`. A note below the output then says what to type instead.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import type { ProgramPaths } from '../../settings/program-paths.ts';

const HINTS = {
  // `mcp-a2a-bridge agent` is the name of the local server's agent.
  'mcp-a2a-bridge': /mcp-a2a-bridge (?!agent\b)[a-z]/,
  'a2a-server': /[`"]a2a-server [a-z]/,
} as const;
type ProgramName = keyof typeof HINTS;
const NAMES: readonly ProgramName[] = ['mcp-a2a-bridge', 'a2a-server'];

interface Place {
  paths: Pick<ProgramPaths, 'bridgeScript' | 'serverScript'>;
  /** The directory in which the person types. */
  cwd: string;
  /** The variable PATH. */
  path: string | undefined;
}

export class NotOnPathNote {
  readonly #hinted = new Set<ProgramName>();

  /** Records the programs in the hints of an output. */
  read(output: string): void {
    for (const name of NAMES) if (HINTS[name].test(output)) this.#hinted.add(name);
  }

  /** Returns the note. Undefined if there was no hint, or if the person can type the names. */
  text({ paths, cwd, path }: Place): string | undefined {
    const scripts = { 'mcp-a2a-bridge': paths.bridgeScript, 'a2a-server': paths.serverScript };
    const lines = NAMES.filter((name) => this.#hinted.has(name) && !isOnPath(name, path)).map(
      (name) => `Here, ${name} is: node ${shortPath(scripts[name], cwd)}`,
    );
    return lines.length === 0 ? undefined : lines.join('\n');
  }
}

/** Returns true if a directory of the path has an executable file of this name. */
function isOnPath(name: string, path: string | undefined): boolean {
  return (path ?? '').split(delimiter).some((directory) => {
    // npx adds a directory for one run.
    if (directory === '' || directory.includes('_npx')) return false;
    try {
      accessSync(join(directory, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function shortPath(script: string, cwd: string): string {
  const path = relative(cwd, script);
  const short = path.startsWith('..') ? script : path;
  return /^[\w./@+-]+$/.test(short) ? short : `'${short.replaceAll("'", String.raw`'\''`)}'`;
}
