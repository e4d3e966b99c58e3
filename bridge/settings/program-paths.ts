/** The paths of the built programs. Only the entry point knows them: bundling moves the other modules. */
export interface ProgramPaths {
  /** The built bridge, an absolute path. The configurations of MCP clients start this file. */
  bridgeScript: string;
  /** The built a2a-server. */
  serverScript: string;
}
