import { FILE_MEDIA_TYPES, decodeUtf8Text, fileMediaTypeOf } from '../../../shared/protocol/attached-file.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { sha256 } from '../../../shared/runtime/sha256.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import type { FileBytes } from '../../journal/journal.ts';
import type { MessagePart } from '../../task/events.ts';

const MAX_NAME_CHARS = 200;

/**
 * Reads a file part of an A2A message (`raw`). The bytes decide its type. Returns the part for the journal, and the
 * content to store. A text file becomes a text part, because every model accepts text.
 * @throws ProductError UNSUPPORTED_CONTENT if no model can read the file
 */
export function parseFilePart({ bytes, name }: { bytes: Uint8Array; name: string }): {
  part: MessagePart;
  stored: FileBytes[];
} {
  const shown = oneLineExcerpt(name, MAX_NAME_CHARS);
  const mediaType = fileMediaTypeOf(bytes);
  if (mediaType !== undefined) {
    const hash = sha256(bytes);
    const file = { hash, bytes: bytes.length, mediaType, ...(shown !== '' && { name: shown }) };
    return { part: { type: 'stored-file', file }, stored: [{ hash, bytes }] };
  }
  const text = decodeUtf8Text(bytes);
  if (text !== undefined)
    return {
      part: { type: 'text', text: `[file ${shown === '' ? 'without a name' : shown}]\n${text}` },
      stored: [],
    };
  throw new ProductError(
    'UNSUPPORTED_CONTENT',
    `The file ${JSON.stringify(shown)} is of a type that no model reads. A file is ${FILE_MEDIA_TYPES.join(', ')}, or text in UTF-8. Put other files into the workspace and name them in a text part.`,
  );
}
