/** The agent requires credentials at an address that must not get them. */
export class WithheldCredentials extends Error {
  override readonly name = 'WithheldCredentials';
  readonly at: string;
  /** The only origin that gets the credentials. */
  readonly origin: string;

  constructor({ at, origin }: { at: string; origin: string }) {
    super(`${at} wants credentials, which go only to ${origin}`);
    this.at = at;
    this.origin = origin;
  }
}
