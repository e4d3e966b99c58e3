/** The parts of draft protocols that the bridge can offer. A user switches each on by its name. */
export const BRIDGE_PREVIEWS = ['mcp-tasks-stream'] as const;

export type BridgePreview = (typeof BRIDGE_PREVIEWS)[number];
