/** The directory a task works in, and the only way a file tool reaches a file (X2). */
export interface Workspace {
  /** Canonical absolute path, symlinks resolved. */
  readonly root: string;
}
