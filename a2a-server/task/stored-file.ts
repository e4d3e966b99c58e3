/** A file of a message or of a tool result. The journal stores its content beside the event, by its hash. */
import { oneLine } from '../../shared/text/one-line.ts';

export interface StoredFile {
  /** SHA-256 (hex) of the content. */
  hash: string;
  /** The size of the content in bytes. */
  bytes: number;
  /** The type of the content, one of `FILE_TYPES`. */
  mediaType: string;
  name?: string;
}

/** Returns the line that replaces a file in a text. Pure. */
export function fileLine({ name, mediaType, bytes }: Omit<StoredFile, 'hash'>): string {
  const known = name === undefined ? '' : ` ${oneLine(name, 200)},`;
  return `[file${known} ${mediaType}, ${bytes} bytes]`;
}
