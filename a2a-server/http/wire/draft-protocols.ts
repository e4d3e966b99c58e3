/** The parts of draft protocols that the server can offer. An operator switches each on by its name. */
export const SERVER_DRAFT_PROTOCOLS = ['a2a-1.1'] as const;

export type ServerDraftProtocol = (typeof SERVER_DRAFT_PROTOCOLS)[number];
