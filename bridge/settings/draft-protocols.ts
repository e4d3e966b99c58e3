/** The parts of draft protocols that the bridge can offer. A user switches each on by its name. */
export const BRIDGE_DRAFT_PROTOCOLS = ['mcp-tasks-stream'] as const;

export type BridgeDraftProtocol = (typeof BRIDGE_DRAFT_PROTOCOLS)[number];
