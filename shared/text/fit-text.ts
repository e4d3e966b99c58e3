/**
 * Cuts text to the size that a form, the page or a terminal can show. A marker between the head and the tail says how
 * much is left out. The text has no hidden characters, because `visible-text.ts` has escaped them.
 */

/** The maximum size of a text that a form, the page or a terminal can show. */
export interface TextLimits {
  /** The maximum number of UTF-16 code units, without line prefixes. */
  characters: number;
  lines?: number;
}

/**
 * Untrusted text as a person sees it. D5: a person can approve only what is shown in full. So if the text is cut and
 * there is no link to the rest, the form, page or terminal must not offer approval.
 */
export type QuotedText =
  | { extent: 'whole'; text: string }
  /** The text consists of a head, a marker and a tail. `left` is the number of characters that the marker replaces. */
  | { extent: 'cut'; text: string; left: number };

/** The characters of a text that were not read: the index at which they are missing, and their number. */
interface UnreadCharacters {
  at: number;
  characters: number;
}

/** Cuts the text to the maximum size. The head gets two thirds of it, and the tail gets the rest. */
export function fitText(text: string, room: TextLimits | undefined, unread?: UnreadCharacters): QuotedText {
  if (room === undefined) return { extent: 'whole', text };
  const { characters, lines = Number.POSITIVE_INFINITY } = room;
  if (unread === undefined && text.length <= characters && countOccurrences(text, '\n') < lines)
    return { extent: 'whole', text };
  const headEnd = Math.min(
    headLimit(text, Math.ceil((lines * 2) / 3)),
    Math.ceil((characters * 2) / 3),
    unread?.at ?? text.length,
  );
  const tailStart = Math.max(
    tailLimit(text, Math.floor(lines / 3)),
    text.length - Math.floor(characters / 3),
    unread?.at ?? headEnd,
  );
  const head = withoutPartialLastLine(text.slice(0, safeCutBefore(text, headEnd)));
  const tail = withoutPartialFirstLine(text.slice(safeCutBefore(text, tailStart)));
  const left = text.length - head.length - tail.length + (unread?.characters ?? 0);
  if (left <= 0) return { extent: 'whole', text };
  return { extent: 'cut', left, text: `${head}⟨${countText(left, 'character')} left out⟩${tail}` };
}

/**
 * Removes the incomplete last line of the head. If that line is more than a quarter of the head, returns the head
 * unchanged.
 */
function withoutPartialLastLine(head: string): string {
  const end = head.lastIndexOf('\n') + 1;
  return end >= head.length * 0.75 ? head.slice(0, end) : head;
}

/**
 * Removes the incomplete first line of the tail. If that line is more than a quarter of the tail, returns the tail
 * unchanged.
 */
function withoutPartialFirstLine(tail: string): string {
  const end = tail.indexOf('\n');
  return end >= 0 && end <= tail.length * 0.25 ? tail.slice(end) : tail;
}

/** Returns the index directly after the first `lines` lines and their line feeds. */
function headLimit(text: string, lines: number): number {
  if (!Number.isFinite(lines)) return text.length;
  let at = 0;
  for (let line = 0; line < lines; line += 1) {
    const feed = text.indexOf('\n', at);
    if (feed < 0) return text.length;
    at = feed + 1;
  }
  return at;
}

/** Returns the index of the line feed before the last `lines` lines. */
function tailLimit(text: string, lines: number): number {
  if (!Number.isFinite(lines)) return 0;
  let at = text.length;
  for (let line = 0; line < lines; line += 1) {
    const feed = at === 0 ? -1 : text.lastIndexOf('\n', at - 1);
    if (feed < 0) return 0;
    at = feed;
  }
  return at;
}

/** The maximum length of an escape, a marker or an emoji, in UTF-16 code units. */
const MAX_TOKEN_LENGTH = 120;

/**
 * Returns the last index at or before `at` where the text may be cut: not inside an escape, a marker or a character. A
 * combining mark may follow an escape or a marker. So the function first finds the start of the character, and then the
 * start of the escape or marker.
 */
export function safeCutBefore(text: string, at: number): number {
  return tokenStart(text, characterStart(text, at));
}

function characterStart(text: string, at: number): number {
  const from = Math.max(0, at - MAX_TOKEN_LENGTH);
  let start = at;
  while (start > from && start < text.length && continuesCharacter(text, start)) start -= 1;
  return start;
}

/** Returns the start of the escape or marker that contains `at`. Returns `at` if there is none. */
function tokenStart(text: string, at: number): number {
  const from = Math.max(0, at - MAX_TOKEN_LENGTH);
  const before = text.slice(from, at);
  const marker = before.lastIndexOf('⟨');
  if (marker >= 0 && !before.includes('⟩', marker)) return from + marker;
  // The search includes the two characters after `at`. Otherwise it would miss an escape whose backslash is the last
  // character before `at`.
  const escape = at > from ? text.slice(from, at + 2).lastIndexOf('\\u{', at - from - 1) : -1;
  return escape >= 0 && !before.includes('}', escape) ? from + escape : at;
}

/** Returns true if the character at this index belongs to the character before it. */
function continuesCharacter(text: string, at: number): boolean {
  return /^[\p{M}\u200D\uDC00-\uDFFF]/u.test(text.charAt(at)) || text.charAt(at - 1) === '\u200D';
}

export function countText(number: number, noun: string): string {
  return `${formatCount(number)} ${noun}${number === 1 ? '' : 's'}`;
}

export function formatCount(number: number): string {
  return String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

export function countOccurrences(text: string, sought: string): number {
  return text.split(sought).length - 1;
}
