/** Relates an agent's paths to the workspace. */
import { isAbsolute, relative, resolve } from 'node:path';

/**
 * Returns a path inside the workspace as a relative path, and any other path as an absolute path. Compares only the
 * text and resolves no links.
 */
export function pathInWorkspace(workspace: string, path: string): string {
  const inside = relative(workspace, resolve(workspace, path));
  return inside.startsWith('..') || isAbsolute(inside) ? resolve(workspace, path) : inside || '.';
}
