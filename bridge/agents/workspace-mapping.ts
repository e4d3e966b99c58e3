/**
 * Converts local paths to an agent's paths, and back, with the mapping in the settings. For agents on another machine
 * or in a container. Pure.
 */
import { isAbsolute, join, relative, sep } from 'node:path';

/** Returns the local path for a path of the agent. Returns undefined if the settings do not map this path. */
export function toLocalWorkspace(
  path: string,
  workspaces: Readonly<Record<string, string>>,
): string | undefined {
  const longestFirst = Object.entries(workspaces).toSorted(([, a], [, b]) => b.length - a.length);
  for (const [local, remote] of longestFirst) {
    const root = remote.replace(/[\\/]+$/, '');
    const rest = path.slice(root.length);
    if (!path.startsWith(root) || (rest !== '' && !/^[\\/]/.test(rest))) continue;
    const names = rest
      .split(root.includes('\\') && !root.includes('/') ? '\\' : '/')
      .filter((each) => each !== '');
    return names.includes('..') ? undefined : join(local, ...names);
  }
  return undefined;
}

/** Returns the agent's path for a local path. Returns undefined if the settings do not map this path. */
export function toAgentWorkspace(
  path: string,
  workspaces: Readonly<Record<string, string>>,
): string | undefined {
  const longestFirst = Object.entries(workspaces).toSorted(([a], [b]) => b.length - a.length);
  for (const [local, remote] of longestFirst) {
    const rest = relative(local, path);
    if (rest === '') return remote;
    if (rest === '..' || rest.startsWith(`..${sep}`) || isAbsolute(rest)) continue;
    const separator = remote.includes('\\') && !remote.includes('/') ? '\\' : '/';
    return [remote.replace(/[\\/]+$/, ''), ...rest.split(sep)].join(separator);
  }
  return undefined;
}
