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

/** Returns the start of a body as one printable line. */
export function bodyExcerpt(body: string): string {
  const line = body
    .slice(0, MAX_EXCERPT_CHARACTERS * 4)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return line.length > MAX_EXCERPT_CHARACTERS ? `${line.slice(0, MAX_EXCERPT_CHARACTERS)}…` : line;
}
