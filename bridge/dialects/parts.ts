/** Builds and reads the parts of A2A messages. Converts parts that are not text to a textual description. */
import type { Message, Part } from '@a2a-js/sdk';

/** The maximum length of the JSON of a data part, in characters. */
const MAX_DATA_CHARACTERS = 50_000;
const MAX_URL_CHARACTERS = 2_000;
/**
 * The maximum number of levels in the data of a part. Deeper data would overflow the stack in code that compares or
 * encodes it.
 */
const MAX_DATA_DEPTH = 200;

/**
 * Converts one part to text. Data becomes JSON. A file becomes its name, its type, and its size or URL. `of` replaces
 * the name of a file that has none.
 */
function partText(part: Part, of = 'file'): string {
  const content = part.content;
  if (content === undefined) return '';
  switch (content.$case) {
    case 'text':
      return content.value;
    case 'data':
      return shortenText(jsonText(content.value), MAX_DATA_CHARACTERS);
    case 'url':
      return `[${fileName(part, of)}: ${shortenText(content.value, MAX_URL_CHARACTERS)}]`;
    case 'raw':
      return `[${fileName(part, of)}: ${String(content.value.length)} bytes]`;
  }
}

/** Converts several parts to text. Text parts are joined directly. Every other part starts on a new line. */
export function partsAsText(parts: readonly Part[], of?: string): string {
  let text = '';
  // Only the last piece is checked for a line feed. A check of `text` would copy the whole text for each piece.
  let last = '\n';
  for (const part of parts) {
    const piece = partText(part, of);
    if (piece === '') continue;
    const runsOn = part.content?.$case === 'text';
    text += runsOn || last.endsWith('\n') ? piece : `\n${piece}`;
    last = piece;
  }
  return text;
}

/** Returns the text of a message without the parts in `omitted`. */
export function messageText(message: Message | undefined, omitted: readonly Part[] = []): string {
  const left = new Set(omitted);
  return partsAsText((message?.parts ?? []).filter((part) => !left.has(part)));
}

/**
 * Returns the value of a data part. Returns undefined for other parts, and for data that is nested too deep. D5: a
 * person can approve only what is shown in full, and the bridge cannot show such data.
 */
export function dataOfPart(part: Part): unknown {
  if (part.content?.$case !== 'data') return undefined;
  const { value } = part.content;
  return isNestedTooDeep(value) ? undefined : value;
}

/** Returns true if the text of the part contains its whole data. `partText` shortens longer data. */
export function isDataShownWhole(part: Part): boolean {
  return part.content?.$case === 'data' && jsonText(part.content.value).length <= MAX_DATA_CHARACTERS;
}

/** Returns true if lists and objects are nested in more than `MAX_DATA_DEPTH` levels. Uses no recursion. */
function isNestedTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DATA_DEPTH) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}

export function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' };
}

export function dataPart(data: unknown): Part {
  return { content: { $case: 'data', value: data }, metadata: undefined, filename: '', mediaType: '' };
}

function fileName(part: Part, of: string): string {
  const name = part.filename === '' ? of : part.filename;
  return part.mediaType === '' ? name : `${name}, ${part.mediaType}`;
}

function shortenText(text: string, length: number): string {
  return text.length > length
    ? `${text.slice(0, length)}… (${String(text.length - length)} more characters)`
    : text;
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? '';
  } catch {
    // JSON.parse accepts any depth, but JSON.stringify overflows the stack on deeply nested data.
    return '[data nested too deep to show]';
  }
}
