/**
 * Maps directories of this machine to the agent's paths, and back, for an agent on another machine or in a container.
 * Pure.
 */
import { isAbsolute, join, relative, sep } from 'node:path';

/** This machine's path for a path of the agent. @returns undefined if the settings have no mapping */
export function localWorkspace(
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

/** The agent's path for a path of this machine. @returns undefined if the settings have no mapping */
export function mappedWorkspace(
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
