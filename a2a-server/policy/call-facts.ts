import type { SideEffect, ToolSource } from '../../shared/protocol/tool-approval.ts';

/** A path relative to the workspace's root, with `/`. The root is `.`. */
export interface ResolvedTargetPath {
  /** The path in the tool call, normalised. */
  written: string;
  /** The path after the symbolic links are resolved. Undefined if it is not in the workspace. */
  leadsTo: string | undefined;
}

export interface ResolvedTargets {
  /** The absolute path of the workspace. */
  root?: string;
  paths: readonly ResolvedTargetPath[];
  trees: readonly ResolvedTargetPath[];
  command: string | undefined;
  /** The directory in which the command runs. */
  cwd?: ResolvedTargetPath;
  hosts: readonly string[];
  /** True if the paths, `command` and `hosts` do not say the whole effect of the call. */
  incomplete?: true;
  /**
   * True if the call may change a run-later file (`run-later-files.ts`) that the names in `paths` and `trees` do not
   * show. Such a file is in a git repository without a working tree, or in a directory that the call changes as a
   * whole. Computed only if the mode `accept-edits` decides about the call.
   */
  changesRunLater?: true;
}

/** The limits of Linux for a path and for a name. An ACP agent may send a longer path. */
const MAX_PATH_CHARS = 4096;
const MAX_NAME_CHARS = 255;
const MAX_PATH_NAMES = 100;

/**
 * True if the path is too long to compare with a pattern. X3: the comparison could take minutes. So such a path matches
 * each `deny`, `presence` and `ask` rule about paths, and no `allow` rule.
 */
export function isTooLongToMatch(path: string): boolean {
  if (path.length > MAX_PATH_CHARS) return true;
  const names = path.split('/');
  return names.length > MAX_PATH_NAMES || names.some((name) => name.length > MAX_NAME_CHARS);
}

export interface CallFacts {
  tool: string;
  source: ToolSource;
  sideEffect: SideEffect;
  reach: ResolvedTargets;
}

export const NO_RESOLVED_TARGETS: ResolvedTargets = { paths: [], trees: [], command: undefined, hosts: [] };
