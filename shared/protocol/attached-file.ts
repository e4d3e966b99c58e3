/**
 * The files that a message or a tool result may contain. Only the bytes of a file determine its type. Its name and its
 * declared media type are ignored: model providers refuse an image with a wrong type, and a browser must not guess the
 * type.
 */

/** The file types that models can read. A text file is not in this list, because the model gets it as text. */
export const FILE_MEDIA_TYPES = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
] as const;
export type FileMediaType = (typeof FILE_MEDIA_TYPES)[number];

/**
 * The maximum size of an image. Anthropic refuses an image of more than 5 MiB in base64, which is 3.75 MiB of bytes.
 */
const MAX_IMAGE_BYTES = 3_932_160;
/** The maximum size of a PDF. Google refuses a request of more than 20 MB. A PDF of this size has 13.3 MB in base64. */
const MAX_PDF_BYTES = 10_000_000;

/** The maximum size of all files of one message together. In base64, they fit into a request of 4 MiB. */
export const MAX_MESSAGE_FILE_BYTES = 3_000_000;

/** Returns the type of a file that a model can read. Returns undefined for a file of any other type. */
export function fileMediaTypeOf(bytes: Uint8Array): FileMediaType | undefined {
  const at = (offset: number, text: string): boolean =>
    Buffer.from(bytes.subarray(offset, offset + text.length)).toString('latin1') === text;
  if (at(0, '\x89PNG\r\n\x1a\n')) return 'image/png';
  if (at(0, '\xff\xd8\xff')) return 'image/jpeg';
  if (at(0, 'GIF87a') || at(0, 'GIF89a')) return 'image/gif';
  if (at(0, 'RIFF') && at(8, 'WEBP')) return 'image/webp';
  if (at(0, '%PDF-')) return 'application/pdf';
  return undefined;
}

/** Returns the text of a file that contains UTF-8 without NUL. Returns undefined for any other file. */
export function decodeUtf8Text(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function maxFileBytes(type: FileMediaType): number {
  return type === 'application/pdf' ? MAX_PDF_BYTES : MAX_IMAGE_BYTES;
}
