/** From bytes to text, in the encoding their sender meant (WHATWG Encoding, and HTML §13.2.3.2 for where it is said). */

import { TextDecoder } from 'node:util';

const DECLARED =
  /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})|^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{1,40})/iu;

/** How far into a document its encoding may be declared. */
const PRESCAN_BYTES = 4096;

/** What no text needs: NUL and its like, which storage and terminals trip over. */
const CONTROLS = /[^\P{Cc}\t\n\r\f]/gu;

export interface Declared {
  /** As the Content-Type header has it. */
  charset: string | undefined;
  /** Whether the document itself may say it (HTML, XML). */
  markup: boolean;
}

/** A byte order mark wins, then the header, then the document; else UTF-8 if it is that, else Windows-1252. Never throws. */
export function decodeText(bytes: Uint8Array, { charset, markup }: Declared): string {
  const said = charset ?? (markup ? declaredIn(bytes) : undefined);
  const decoder = byteOrderMark(bytes) ?? (said === undefined ? undefined : decoderFor(said)) ?? guess(bytes);
  return withoutControls(decoder.decode(bytes).replaceAll('\r\n', '\n'));
}

/** Each as the character that stands for what cannot be shown. */
export function withoutControls(text: string): string {
  return text.replaceAll(CONTROLS, '\ufffd');
}

/** Whether bytes of no declared type are text: UTF-8, or UTF-16 that says so, without NUL. */
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
  // HTML §13.2.3.3: a document whose declaration could be read as ASCII is no UTF-16.
  return said !== undefined && /^utf-16/iu.test(said) ? 'utf-8' : said;
}

function decoderFor(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    // An encoding nobody knows is none.
    return undefined;
  }
}

function guess(bytes: Uint8Array): TextDecoder {
  return new TextDecoder(isUtf8(bytes) ? 'utf-8' : 'windows-1252');
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    // As a stream, since the last character may have been cut through.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
