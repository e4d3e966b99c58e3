/** Thrown if the address that the agent's card names cannot be reached. The card itself came from another address. */
export class UnreachableEndpointError extends Error {
  override readonly name = 'UnreachableEndpointError';
  /** The origin of the address. */
  readonly at: string;

  constructor({ at, cause }: { at: string; cause: unknown }) {
    super(`${at} cannot be reached`, { cause });
    this.at = at;
  }
}
