/** The parts of draft protocols that the bridge can offer. A user switches each on by its name. */
export const PREVIEWS = ['mcp-tasks-stream'] as const;

export type Preview = (typeof PREVIEWS)[number];
