/** Decodes bytes in the encoding that the sender declares (WHATWG Encoding; HTML §13.2.3.2). */

import { TextDecoder } from 'node:util';

const DECLARED =
  /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})|^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{1,40})/iu;

/** The number of bytes at the start in which a document must declare its encoding. */
const PRESCAN_BYTES = 4096;

/** Matches control characters such as NUL, which can break storage and terminals. */
const CONTROLS = /[^\P{Cc}\t\n\r\f]/gu;

interface DeclaredCharset {
  /** The charset of the Content-Type header. */
  charset: string | undefined;
  /** True if the document itself can declare its encoding (HTML, XML). */
  markup: boolean;
}

/**
 * Decodes by the byte order mark, else by the header, else by the declaration in the document. Without any of them,
 * decodes as UTF-8 if that is valid, else as Windows-1252. Never throws.
 */
export function decodeText(bytes: Uint8Array, { charset, markup }: DeclaredCharset): string {
  const said = charset ?? (markup ? declaredIn(bytes) : undefined);
  const decoder =
    byteOrderMark(bytes) ?? (said === undefined ? undefined : decoderFor(said)) ?? guessDecoder(bytes);
  return replaceControlCharacters(decoder.decode(bytes).replaceAll('\r\n', '\n'));
}

/** Replaces each control character by U+FFFD. */
export function replaceControlCharacters(text: string): string {
  return text.replaceAll(CONTROLS, '\ufffd');
}

/** Returns true if the bytes are UTF-8 without NUL, or have a byte order mark. */
export function looksLikeText(bytes: Uint8Array): boolean {
  return byteOrderMark(bytes) !== undefined || (!bytes.includes(0) && isUtf8(bytes));
}

function byteOrderMark(bytes: Uint8Array): TextDecoder | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return new TextDecoder('utf-8');
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be');
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le');
  return undefined;
}

function declaredIn(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, PRESCAN_BYTES));
  const [, meta, xml] = DECLARED.exec(head) ?? [];
  const said = meta ?? xml;
  // HTML §13.2.3.3: a declaration that is readable as ASCII cannot be in UTF-16.
  return said !== undefined && /^utf-16/iu.test(said) ? 'utf-8' : said;
}

function decoderFor(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    // An unknown encoding is ignored.
    return undefined;
  }
}

function guessDecoder(bytes: Uint8Array): TextDecoder {
  return new TextDecoder(isUtf8(bytes) ? 'utf-8' : 'windows-1252');
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    // The `stream` option accepts a last character that is incomplete.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
