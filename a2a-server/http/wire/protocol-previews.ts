/** The parts of draft protocols that the server can offer. An operator switches each on by its name. */
export const PROTOCOL_PREVIEWS = ['a2a-1.1'] as const;

export type ProtocolPreview = (typeof PROTOCOL_PREVIEWS)[number];
