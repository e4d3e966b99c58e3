/** Where a path of an agent's lies. */
import { isAbsolute, relative, resolve } from 'node:path';

/** Relative to the workspace, by its letters, if it lies inside; otherwise as an absolute path. */
export function pathInWorkspace(workspace: string, path: string): string {
  const inside = relative(workspace, resolve(workspace, path));
  return inside.startsWith('..') || isAbsolute(inside) ? resolve(workspace, path) : inside || '.';
}
