/** Where the built programs are. Known to the entry point alone: what it loads lies elsewhere once it is bundled. */
export interface ProgramPaths {
  /** The built bridge, an absolute path: what a client's settings start. */
  bridgeScript: string;
  /** The built a2a-server, for starting it. */
  serverScript: string;
}
