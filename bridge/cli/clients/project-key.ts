/** Computes the key under which Claude Code stores a project in `.claude.json`. */
import { execFile } from 'node:child_process';
import { basename, dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

/**
 * Returns the key. It is the directory of the shared Git repository, because all worktrees of a repository are one
 * project. Outside of a repository, it is the directory itself.
 */
export async function readProjectKey(directory: string): Promise<string> {
  const shared = await commonDirectory(directory);
  const key =
    shared === undefined ? resolve(directory) : basename(shared) === '.git' ? dirname(shared) : shared;
  // The key contains `/` on Windows too, because Git writes paths with `/`.
  return key.replaceAll('\\', '/');
}

async function commonDirectory(directory: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(
      'git',
      ['rev-parse', '--path-format=absolute', '--git-common-dir'],
      { cwd: directory },
    );
    const path = stdout.trim();
    return path === '' ? undefined : path;
  } catch {
    return undefined; // There is no repository, or no `git`.
  }
}
