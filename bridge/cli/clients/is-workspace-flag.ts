/** Returns true if an argument of the bridge names the workspace. */
export function isWorkspaceFlag(arg: string): boolean {
  return /^--workspace(-from-roots)?(=|$)/.test(arg);
}
