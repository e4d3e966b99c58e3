/** What of a call policy looks at. */
import { relative, resolve, sep } from 'node:path';
import type { SideEffect, ToolSource } from '../../shared/protocol/tool-approval.ts';
import type { Tool } from '../tools/tool.ts';
import type { Workspace } from '../tools/workspace.ts';

/** A place in the workspace, relative to its root, with `/`; `.` is the root. */
export interface ReachedPath {
  /** As the call has it, made plain. */
  written: string;
  /** With symbolic links resolved. */
  leadsTo: string;
}

export interface CallReach {
  paths: readonly ReachedPath[];
  trees: readonly ReachedPath[];
  command: string | undefined;
  hosts: readonly string[];
}

export interface Judged {
  tool: string;
  source: ToolSource;
  sideEffect: SideEffect;
  reach: CallReach;
}

export const NO_REACH: CallReach = { paths: [], trees: [], command: undefined, hosts: [] };

/** A place that cannot be found, or leads outside, has the one name: whether a tool may go there is not decided here (X2). */
export async function reachOf(
  tool: Tool,
  input: unknown,
  workspace: Pick<Workspace, 'root' | 'locate'>,
): Promise<CallReach> {
  const { paths = [], trees = [], command, hosts = [] } = tool.reach?.(input) ?? {};
  const located = async (path: string): Promise<ReachedPath> => {
    const written = writtenPath(path, workspace.root);
    const place = await workspace.locate(path).catch(() => undefined);
    return { written, leadsTo: place?.path ?? written };
  };
  return {
    paths: await Promise.all(paths.map(located)),
    trees: await Promise.all(trees.map(located)),
    command,
    hosts,
  };
}

/** Made plain by its letters alone: nothing is looked up. */
export function writtenPath(path: string, root: string): string {
  const inside = relative(root, resolve(root, path)).split(sep).join('/');
  return inside === '' ? '.' : inside;
}
