/** An HTTP answer that is not A2A: a status without an A2A error, an HTML page, a body over the limit. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  readonly status: number;
  /** The first characters of the body, on one line; safe to show. */
  readonly excerpt: string;

  constructor(status: number, message: string, excerpt = '') {
    super(message);
    this.status = status;
    this.excerpt = excerpt;
  }
}

const EXCERPT = 200;

/** The start of a body as one printable line. */
export function excerptOf(body: string): string {
  const line = body
    .slice(0, EXCERPT * 4)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return line.length > EXCERPT ? `${line.slice(0, EXCERPT)}…` : line;
}
