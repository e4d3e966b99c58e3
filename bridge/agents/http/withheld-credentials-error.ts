/** Thrown if an agent demands credentials at a URL to which the bridge must not send them. */
export class WithheldCredentialsError extends Error {
  override readonly name = 'WithheldCredentialsError';
  readonly at: string;
  /** The only origin to which the bridge sends the credentials. */
  readonly origin: string;

  constructor({ at, origin }: { at: string; origin: string }) {
    super(`${at} wants credentials, which go only to ${origin}`);
    this.at = at;
    this.origin = origin;
  }
}
