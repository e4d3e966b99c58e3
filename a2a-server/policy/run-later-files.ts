/**
 * Recognizes changes of files that a program later runs on its own, or from which it takes commands. Examples are the
 * hooks of git and the tasks of an editor. Such a change is more than an edit, because it makes something run later.
 * Pure.
 */
import type { ResolvedTargets } from './call-facts.ts';
import { comparablePath } from './comparable-path.ts';

/**
 * The directories of git, editors and coding agents, and of programs that a command line finds by name (`.bin`,
 * `.venv`). They match at any depth, with everything in them.
 */
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
  '.opencode',
  '.kiro',
  '.windsurf',
  '.zed',
  '.config',
  '.ssh',
  '.bin',
  '.venv',
]);

/** Files that git, shells and coding agents read when they start. They match in any directory. */
const FILES: ReadonlySet<string> = new Set([
  '.gitconfig',
  '.gitmodules',
  '.envrc',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_aliases',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.cshrc',
  '.tcshrc',
  '.login',
  '.logout',
  '.kshrc',
  '.mkshrc',
  '.mcp.json',
  '.claude.json',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  '.lefthook.yml',
  // `HEAD`, together with other files, makes any directory a repository. git then takes commands from the directory's
  // `config`.
  'head',
]);

/** Matches the usual name of a repository without a working tree. Its `config` and its hooks are directly in it. */
const REPOSITORY = /.\.git$/u;

/**
 * True if the call changes a file that a program later runs on its own, or from which it takes commands, e.g. a hook of
 * git. Also true if the call may change any file of the workspace, or a file outside of it.
 */
export function changesRunLaterFile({ paths, trees, root = '', changesRunLater }: ResolvedTargets): boolean {
  if (changesRunLater || isInRunLaterDirectory(root)) return true;
  if (trees.some(({ leadsTo }) => leadsTo === '.')) return true;
  return [...paths, ...trees]
    .flatMap(({ written, leadsTo }) => [written, leadsTo])
    .some((path) => path === undefined || isRunLaterFile(path));
}

/** @param path relative to the workspace's root, with `/` */
export function isRunLaterFile(path: string): boolean {
  const names = path.split('/').map(comparableName);
  return (
    names.some((name) => DIRECTORIES.has(name)) ||
    names.slice(0, -1).some((name) => REPOSITORY.test(name)) ||
    FILES.has(names.at(-1) ?? '')
  );
}

/**
 * True if the workspace is one of DIRECTORIES, or in one. Coding agents keep their working trees e.g. in
 * `.claude/worktrees`. So the names before `worktrees` do not count, except `.git`.
 */
function isInRunLaterDirectory(root: string): boolean {
  const names = root.split(/[\\/]/u).map(comparableName);
  const own = names.slice(names.lastIndexOf('worktrees') + 1);
  return names.includes('.git') || own.some((name) => DIRECTORIES.has(name));
}

/** Some file systems ignore the case of a name, and dots and spaces at its end. */
function comparableName(name: string): string {
  return comparablePath(name)
    .toLowerCase()
    .replace(/(?<=[^. ])[. ]+$/u, '');
}
