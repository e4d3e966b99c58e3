/**
 * Recognizes changes of files from which programs take commands without being asked, e.g. the hooks of git and the tasks
 * of an editor. Such a change runs something later, so it is more than an edit. Pure.
 */
import type { ResolvedTargets } from './call-facts.ts';

/** The directories of git, editors and coding agents. They are meant at any depth, with everything in them. */
const DIRECTORIES: ReadonlySet<string> = new Set([
  '.git',
  '.githooks',
  '.husky',
  '.vscode',
  '.idea',
  '.devcontainer',
  '.claude',
  '.codex',
  '.cursor',
  '.gemini',
]);

/** Files that git, shells and coding agents read when they start. They are meant in any directory. */
const FILES: ReadonlySet<string> = new Set([
  '.gitconfig',
  '.gitmodules',
  '.envrc',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.mcp.json',
  '.claude.json',
]);

/** True if the call changes a file that another program runs, or reads commands from, without being asked. */
export function changesRunLaterFile({ paths, trees }: ResolvedTargets): boolean {
  return [...paths, ...trees]
    .flatMap(({ written, leadsTo }) => [written, leadsTo])
    .some((path) => {
      const names = path.split('/').map(comparableName);
      return names.some((name) => DIRECTORIES.has(name)) || FILES.has(names.at(-1) ?? '');
    });
}

/** Some file systems ignore the case of a name, and dots and spaces at its end. */
function comparableName(name: string): string {
  return name.toLowerCase().replace(/(?<=.)[. ]+$/u, '');
}
