export interface MediaType {
  /** The media type in lower case, for example `text/html`. Empty if the header is missing or invalid. */
  type: string;
  charset: string | undefined;
}

/** Parses a Content-Type header. Never throws. An invalid header gives an empty type (RFC 9110 §8.3). */
export function parseMediaType(header: string | undefined): MediaType {
  const [, type = ''] = /^\s*([\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+)\s*(?:;|$)/u.exec(header ?? '') ?? [];
  const [, charset] = /;\s*charset\s*=\s*"?([\w:.-]{1,40})"?/iu.exec(header ?? '') ?? [];
  return { type: type.toLowerCase(), charset };
}

/** How a body is read. With `look`, the body is text if its bytes look like text. With `none`, the body stays unread. */
type BodyKind = 'html' | 'text' | 'look' | 'none';

const TEXT_APPLICATIONS =
  /^application\/(?:(?:.+\+)?(?:json|xml|yaml)|x-yaml|toml|javascript|x-javascript|ecmascript|typescript|x-ndjson|jsonl|json5|graphql|sql|x-sh|x-httpd-php|x-www-form-urlencoded)$/u;

export function bodyReadModeOf({ type }: MediaType): BodyKind {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  if (type.startsWith('text/') || TEXT_APPLICATIONS.test(type) || /\+(?:json|xml|yaml)$/u.test(type))
    return 'text';
  // Servers send these types for files of unknown type.
  return type === '' || type === 'application/octet-stream' ? 'look' : 'none';
}
