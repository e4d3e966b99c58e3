import type { Directory } from './directory.ts';
import { readDirectoryEntries, type DirectoryEntry } from './directory-entries.ts';
import { nothingAtError } from './file-failure.ts';
import { withoutIgnoredEntries, parseGitignoreRules, type IgnoreRules } from './ignore-rules.ts';
import { withResolvedPath, type WorkspaceRoot } from './resolve-path.ts';
import { readTextFile, type TextFile } from './text-file.ts';
import { ProductError, errorCode } from '../../../shared/runtime/errors.ts';

/** The maximum depth of the walk. Each level keeps one handle open. */
const MAX_DEPTH = 64;

export interface TreeOptions {
  signal: AbortSignal;
  /** True to visit also the files that .gitignore excludes. The walk never visits `.git`. */
  includeIgnored: boolean;
}

/** What the walk does after a directory. `skip`: it does not enter the directories below this one. */
export type WalkStep = 'go on' | 'skip' | 'stop';

/** One directory of a walk. The caller may use it only during the `visit` call. */
export interface TreeDirectory {
  /** The path of the directory, relative to the workspace, with `/`. The root is ''. */
  path: string;
  entries: DirectoryEntry[];
  /** True if the walk leaves out entries of this directory or below it. */
  cut: boolean;
  /** Reads a file of the directory. The maximum size is `maxBytes` bytes (default MAX_READ_BYTES). */
  read(name: string, maxBytes?: number): Promise<TextFile>;
}

export async function walkTree(
  { root, start }: { root: WorkspaceRoot; start: string },
  options: TreeOptions,
  visit: (directory: TreeDirectory) => Promise<WalkStep>,
): Promise<void> {
  const rules = options.includeIgnored ? [] : await rulesAbove(root, start);
  await withResolvedPath(root, start, async (place) => {
    if (place.kind === 'missing') throw nothingAtError(start);
    if (place.kind === 'entry') throw new Error(`"${start}" is a file, not a directory.`);
    const path = place.path === '.' ? '' : place.path;
    await descend({ directory: place.directory, path, depth: 0, rules }, options, visit);
  });
}

interface TreeLevel {
  directory: Directory;
  path: string;
  depth: number;
  rules: IgnoreRules;
}

async function descend(
  level: TreeLevel,
  options: TreeOptions,
  visit: (directory: TreeDirectory) => Promise<WalkStep>,
): Promise<'go on' | 'stop'> {
  options.signal.throwIfAborted();
  const { directory } = level;
  const read = (name: string, maxBytes?: number) =>
    readTextFile(directory, { name, path: joinNames(level.path, name), maxBytes });
  const found = await readDirectoryEntries(directory);
  const rules = options.includeIgnored ? level.rules : await ownRules(level, read);
  const entries = await withoutIgnoredEntries(rules, level.path, found.entries);
  const cut = found.cut || level.depth === MAX_DEPTH;
  const step = await visit({ path: level.path, entries, cut, read });
  if (step === 'stop') return 'stop';
  if (step === 'skip' || level.depth === MAX_DEPTH) return 'go on';
  for (const entry of entries) {
    if (entry.kind !== 'directory') continue;
    const child = await enter(directory, entry.name);
    if (child === undefined) continue;
    try {
      const below = {
        directory: child,
        path: joinNames(level.path, entry.name),
        depth: level.depth + 1,
        rules,
      };
      if ((await descend(below, options, visit)) === 'stop') return 'stop';
    } finally {
      await child.close();
    }
  }
  return 'go on';
}

/**
 * Opens a subdirectory. Returns undefined if the subdirectory is unreadable, deleted or replaced. The walk then skips
 * it.
 */
async function enter(directory: Directory, name: string): Promise<Directory | undefined> {
  try {
    return await directory.child(name);
  } catch (error) {
    const gone = ['ENOENT', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '');
    if (gone || (error instanceof ProductError && error.reason === 'OUTSIDE_WORKSPACE')) return undefined;
    throw error;
  }
}

async function ownRules(
  { path, rules }: Pick<TreeLevel, 'path' | 'rules'>,
  read: (name: string) => Promise<TextFile>,
): Promise<IgnoreRules> {
  // If the .gitignore is missing, a link or not text, git ignores it. So the walk ignores it too.
  const file = await read('.gitignore').catch(() => undefined);
  return file === undefined ? rules : parseGitignoreRules(rules, path, file.content);
}

/**
 * Returns the rules of the directories above `start`. If these rules ignore `start`, returns no rules, because the
 * caller asked for `start`.
 */
async function rulesAbove(root: WorkspaceRoot, start: string): Promise<IgnoreRules> {
  const names = await withResolvedPath(root, start, (place) =>
    Promise.resolve(place.path === '.' ? [] : place.path.split('/')),
  );
  let rules: IgnoreRules = [];
  for (const [depth, name] of names.entries()) {
    const path = names.slice(0, depth).join('/');
    rules = await withResolvedPath(root, path, async (place) => {
      if (place.kind !== 'directory') return rules;
      const { directory } = place;
      return ownRules({ path, rules }, (file) =>
        readTextFile(directory, { name: file, path: joinNames(path, file) }),
      );
    });
    const kept = await withoutIgnoredEntries(rules, path, [{ name, kind: 'directory' }]);
    if (kept.length === 0) return [];
  }
  return rules;
}

function joinNames(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}
