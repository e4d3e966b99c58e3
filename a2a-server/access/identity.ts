/** Who sends a request. */
export interface Identity {
  principal: string;
  /** The issued token that gives the access. Absent for the local token and for the tokens of the settings. */
  tokenId?: string;
}
