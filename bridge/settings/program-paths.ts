/**
 * The paths of the built programs. Only the entry point can compute them, because the bundler moves all other modules.
 */
export interface BuiltProgramPaths {
  /** The absolute path of the built bridge, which MCP clients start. */
  bridgeScript: string;
  serverScript: string;
  /** The path of the built approval card. */
  cardFile: string;
}
