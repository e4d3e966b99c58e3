import { isAbsolute, relative, resolve } from 'node:path';

/**
 * Returns a path in the workspace as a relative path, and any other path as an absolute path. Only the text is
 * compared. Symbolic links are not resolved.
 */
export function asRelativePath(workspace: string, path: string): string {
  const inside = relative(workspace, resolve(workspace, path));
  return inside.startsWith('..') || isAbsolute(inside) ? resolve(workspace, path) : inside || '.';
}
