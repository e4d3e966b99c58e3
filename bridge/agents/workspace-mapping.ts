/** What an agent on another machine, or in a container, calls a directory of this one. Pure. */
import { isAbsolute, join, relative, sep } from 'node:path';

/** What this machine calls a path of the agent's. @returns undefined where the settings do not say */
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

/** @returns undefined where nothing says what it is called there */
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
