/** The parts of draft protocols that the bridge can offer. A user switches each on by its name. */
export const PROTOCOL_PREVIEWS = ['mcp-tasks-stream'] as const;

export type ProtocolPreview = (typeof PROTOCOL_PREVIEWS)[number];
