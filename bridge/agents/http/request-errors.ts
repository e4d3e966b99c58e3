/** The errors of requests to an agent, besides those of A2A and of the network. */
import { ellipsize } from '../../../shared/text/shortened-text.ts';

/**
 * Thrown for an HTTP response that is not A2A, such as an HTML page, an error status, or a body over the size limit.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  /** The first characters of the body, on one line, without control characters. */
  readonly excerpt: string;
  /** The number of seconds in `Retry-After`. Undefined if there is no such header, or if it contains a date. */
  readonly retryAfter: string | undefined;

  constructor(
    status: number,
    message: string,
    {
      excerpt = '',
      headers,
    }: { excerpt?: string | undefined; headers?: ReadonlyMap<string, string> | undefined } = {},
  ) {
    super(message);
    this.status = status;
    this.excerpt = excerpt;
    this.retryAfter = /^\d+$/.exec(headers?.get('retry-after') ?? '')?.[0];
  }
}

const MAX_EXCERPT_CHARACTERS = 200;

/** Returns the start of a body as one printable line. A shortened body ends in `…`. */
export function bodyExcerpt(body: string): string {
  const line = ellipsize(body, MAX_EXCERPT_CHARACTERS * 4)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return ellipsize(line, MAX_EXCERPT_CHARACTERS);
}

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

/** Thrown if the operator demands a signed agent card, but no trusted key has signed this card. */
export class UntrustedCardError extends Error {
  override readonly name = 'UntrustedCardError';

  constructor() {
    super('its agent card is not signed by a trusted key');
  }
}
