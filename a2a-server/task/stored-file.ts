/** A file of a message or of a tool result. The journal stores the content separately from the event, by its hash. */
import { oneLineExcerpt } from '../../shared/text/one-line.ts';

export interface StoredFile {
  /** SHA-256 of the content, in hex. */
  hash: string;
  bytes: number;
  /** The media type, one of `FILE_MEDIA_TYPES`. */
  mediaType: string;
  name?: string;
}

/** Returns the line that replaces a file in a text. */
export function filePlaceholderLine({ name, mediaType, bytes }: Omit<StoredFile, 'hash'>): string {
  const known = name === undefined ? '' : ` ${oneLineExcerpt(name, 200)},`;
  return `[file${known} ${mediaType}, ${bytes} bytes]`;
}
