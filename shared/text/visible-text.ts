/**
 * Makes untrusted text (from an agent, a tool or a file) safe to show to a person or a model. All code that shows such
 * text uses these functions.
 *
 * - A character that is invisible, or that looks like a space, is replaced by an escape with its code, e.g. `\u{202e}`.
 *   Such characters are: control, format, bidirectional, zero-width, tag, private and unassigned characters, lone
 *   surrogates, variation selectors, and every space except U+0020.
 * - A zero-width joiner and U+FE0F stay inside an emoji that Unicode recommends for interchange (UTS #51, RGI). Letters
 *   of all scripts stay. Up to eight combining marks in a row stay.
 * - A marker with a count replaces a long run of white space, of one invisible character, or of blank lines, e.g.
 *   `⟨25,000 spaces⟩`.
 * - Untrusted text cannot imitate an escape, a marker or a line prefix. Its own `\u{`, `⟨`, `⟩` and `⏎` are escaped.
 *
 * Two different texts look the same only if they differ in the order of spaces and tabs inside one marker. The time is
 * linear in the length of the text.
 */

import {
  countOccurrences,
  countText,
  fitText,
  formatCount,
  type QuotedText,
  safeCutBefore,
  type TextLimits,
} from './fit-text.ts';

/**
 * Compiles a regular expression when it is first used. An expression with a Unicode set takes milliseconds to compile,
 * which would delay the start of the program.
 */
function compileOnce(compile: () => RegExp): () => RegExp {
  let compiled: RegExp | undefined;
  return () => (compiled ??= compile());
}

/** The prefix of every line of untrusted text. The program's own lines never start with it. */
export const LINE_MARK = '│';

/**
 * The maximum width of a run of white space in a text of several lines, in columns. A marker replaces a wider run. A
 * tab counts as four columns. Normal indentation is narrower than this limit.
 */
const MAX_TEXT_GAP_COLUMNS = 80;
/**
 * The maximum width of a run of white space in a text of one line, in columns. Such a text needs no indentation, so
 * this limit is lower than `MAX_TEXT_GAP_COLUMNS`.
 */
const MAX_LINE_GAP_COLUMNS = 8;
const TAB_COLUMNS = 4;
/** The maximum number of consecutive blank lines. A marker replaces a longer run. */
const MAX_BLANK_LINES = 4;
/** The maximum number of consecutive copies of the same escape. A marker replaces a longer run. */
const MAX_EQUAL_ESCAPES = 8;

/**
 * Matches an emoji, but no tag sequence, because tag characters can carry a hidden message. The pattern is a string,
 * because the TypeScript target does not allow the `v` flag on a regular expression literal.
 */
const EMOJI =
  '\\p{RGI_Emoji_ZWJ_Sequence}|\\p{RGI_Emoji_Modifier_Sequence}|\\p{Emoji_Keycap_Sequence}|\\p{Basic_Emoji}';
/**
 * Characters that Unicode classifies as format characters although they are visible, e.g. U+0600, the Arabic number
 * sign.
 */
const VISIBLE_FORMAT = '\\u0600-\\u0605\\u06DD\\u070F\\u0890\\u0891\\u08E2\\u{110BD}\\u{110CD}';
/**
 * Matches the characters to escape. U+2800 and U+FFFC are invisible, although Unicode classifies them as symbols.
 * U+27E8, U+27E9 and U+23CE are the characters of the program's own markers.
 */
const HIDDEN = `[[\\p{C}\\p{Z}\\p{DI}\\p{Variation_Selector}\\u2800\\uFFFC\\u27E8\\u27E9\\u23CE]--[\\t\\u0020${VISIBLE_FORMAT}]]`;
/**
 * Matches combining marks that must be escaped. A combining mark at the start of a line would attach to the line
 * prefix. More than eight on one character would cover the lines above.
 */
const STRAY_MARK = '^\\p{M}|(?<=\\p{M}{8})\\p{M}';
const ESCAPED = compileOnce(() => new RegExp(`${HIDDEN}|${STRAY_MARK}|\\\\(?=u\\{)`, 'gv'));
/**
 * Like `ESCAPED`, for a line that may contain an emoji: it does not match the hidden characters inside an emoji. It is
 * several times slower than `ESCAPED`.
 */
const ESCAPED_BESIDE_EMOJI = compileOnce(() => new RegExp(`${ESCAPED().source}|(${EMOJI})`, 'gv'));
const IN_EMOJI = /\u200D|\uFE0F/;
/**
 * Matches the hidden characters, except the line feed and the characters of the markers (`⟨`, `⟩`, `⏎`). The program
 * itself may have written these.
 */
const UNSEEN = `[${HIDDEN}--[\\n\\u27E8\\u27E9\\u23CE]]`;
const HAS_UNSEEN = compileOnce(() => new RegExp(UNSEEN, 'v'));
const UNSEEN_BESIDE_EMOJI = compileOnce(() => new RegExp(`${UNSEEN}|(${EMOJI})`, 'gv'));
/** Matches all hidden characters except the line feed, which ends a line of JSON. */
const HIDDEN_IN_JSON = compileOnce(() => new RegExp(`[${HIDDEN}--\\n]`, 'gv'));
/** A quick test for characters that may need an escape. Most lines contain none of them and need no further work. */
const SUSPECT = compileOnce(() => new RegExp(`${HIDDEN}|\\p{M}|\\\\u\\{`, 'v'));

const GAP = /[ \t]{3,}/g;
/** Matches the start of a run of equal escapes that is longer than `MAX_EQUAL_ESCAPES`. */
const REPEATED_ESCAPE = new RegExp(`(\\\\u\\{[0-9a-f]+\\})\\1{${String(MAX_EQUAL_ESCAPES)}}`, 'g');
/**
 * The maximum number of characters that these functions read: of one line, or at each end of a text that is cut. No
 * form, page or terminal shows so many. X3: escapes, line feeds and emoji take long, and a text of several megabytes
 * would block the process for seconds.
 */
const MAX_READ_CHARS = 100_000;
/** Matches a line without text. In a diff, such a line may start with `+` or `-`. */
const BLANK = /^([+-]?)[ \t]*$/;

/**
 * Returns untrusted text as one line, for titles, names and log lines. A line feed becomes `⏎`.
 * @param most the maximum length in UTF-16 code units. A longer line is cut and ends in `…`.
 */
export function visibleLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const read = text.length <= MAX_READ_CHARS ? text : text.slice(0, safeCutBefore(text, MAX_READ_CHARS));
  const line = read.split('\n').map(escapeLine).map(createCollapse(MAX_LINE_GAP_COLUMNS)).join('⏎');
  if (read.length === text.length && line.length <= most) return line;
  return `${line.slice(0, safeCutBefore(line, Math.min(line.length, most - 1)))}…`;
}

/**
 * Returns untrusted text with escapes for its hidden characters. Unlike `quotedText`, it adds no line prefixes and no
 * markers. The escapes are enough for the result of a task, because a person does not decide on a result.
 */
export function visibleText(text: string): string {
  return text.split('\n').map(escapeLine).join('\n');
}

/**
 * Returns untrusted text as a list of lines, with escapes for hidden characters. Markers replace long runs of white
 * space and of blank lines. The caller adds the prefix `│` if a person decides on the text.
 */
export function visibleLines(text: string): string[] {
  return withoutBlankRuns(text.split('\n'));
}

/**
 * Escapes hidden characters in a text that is partly the program's own, such as a sentence with an untrusted name. The
 * untrusted part may still imitate an escape or a marker.
 */
export function escapeHiddenCharacters(text: string): string {
  // A quick test. Most texts have no hidden character, and the search for emoji takes a hundred times as long.
  if (!HAS_UNSEEN().test(text)) return text;
  return text.replaceAll(
    UNSEEN_BESIDE_EMOJI(),
    (found, emoji: string | undefined) => emoji ?? escapeOf(found),
  );
}

/** Returns the same JSON value as text in which each hidden character is a JSON escape. */
export function visibleJson(json: string): string {
  return json.replaceAll(HIDDEN_IN_JSON(), (character) =>
    Array.from(
      { length: character.length },
      (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/**
 * Returns untrusted text with the prefix `│` before every line, so that no line looks like the program's own.
 * @param room the maximum size. Without it, the function returns the whole text.
 */
export function quotedText(text: string, room?: TextLimits): QuotedText {
  const most = room === undefined ? Number.POSITIVE_INFINITY : Math.max(room.characters, MAX_READ_CHARS);
  if (text.length <= 2 * most) return prefixLines(fitText(joinedVisibleLines(text), room));
  const [headEnd, tailStart] = [safeCutBefore(text, most), safeCutBefore(text, text.length - most)];
  const head = joinedVisibleLines(text.slice(0, headEnd));
  const tail = joinedVisibleLines(text.slice(tailStart));
  return prefixLines(fitText(head + tail, room, { at: head.length, characters: tailStart - headEnd }));
}

function joinedVisibleLines(text: string): string {
  return visibleLines(text).join('\n');
}

function prefixLines(fitted: QuotedText): QuotedText {
  return { ...fitted, text: withLinePrefixes(fitted.text) };
}

/** Adds the prefix `│` to every line. The hidden characters of the text must already be escaped. */
export function withLinePrefixes(text: string): string {
  return text.split('\n').map(prefixLine).join('\n');
}

function prefixLine(line: string): string {
  return line === '' ? LINE_MARK : `${LINE_MARK} ${line}`;
}

function escapeLine(line: string): string {
  if (!SUSPECT().test(line)) return line;
  if (!IN_EMOJI.test(line)) return line.replaceAll(ESCAPED(), escapeOf);
  return line.replaceAll(
    ESCAPED_BESIDE_EMOJI(),
    (found, emoji: string | undefined) => emoji ?? escapeOf(found),
  );
}

function escapeOf(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/**
 * Returns a function that replaces repeated escapes and wide white space in a line with markers.
 * @param gap the maximum width of a run of white space, in columns
 */
function createCollapse(gap: number): (line: string) => string {
  return (line) =>
    withCountedEscapes(line).replaceAll(GAP, (run) => {
      const tabs = countOccurrences(run, '\t');
      return run.length + tabs * (TAB_COLUMNS - 1) <= gap ? run : `⟨${gapWords(run.length - tabs, tabs)}⟩`;
    });
}

/**
 * Replaces each long run of one escape. The loop finds the end of a run, because millions of repeats overflow a RegExp.
 */
function withCountedEscapes(line: string): string {
  let shown = '';
  let from = 0;
  for (;;) {
    REPEATED_ESCAPE.lastIndex = from;
    const found = REPEATED_ESCAPE.exec(line);
    if (found === null) return from === 0 ? line : shown + line.slice(from);
    const [run, escape = ''] = found;
    let end = found.index + run.length;
    while (line.startsWith(escape, end)) end += escape.length;
    shown += `${line.slice(from, found.index)}⟨${formatCount((end - found.index) / escape.length)} × ${escape}⟩`;
    from = end;
  }
}

function gapWords(spaces: number, tabs: number): string {
  return [
    ...(spaces === 0 ? [] : [countText(spaces, 'space')]),
    ...(tabs === 0 ? [] : [countText(tabs, 'tab')]),
  ].join(' and ');
}

/** Replaces each long run of blank lines with a marker. In a diff, the sign of the lines stays before the marker. */
function withoutBlankRuns(lines: readonly string[]): string[] {
  const shown: string[] = [];
  const show = createCollapse(MAX_TEXT_GAP_COLUMNS);
  for (let from = 0; from < lines.length;) {
    const sign = blankSign(lines[from]);
    let to = from + 1;
    if (sign !== undefined) while (to < lines.length && blankSign(lines[to]) === sign) to += 1;
    const run = lines.slice(from, to);
    if (run.length > MAX_BLANK_LINES) shown.push(blankMarker(run, sign ?? ''));
    else shown.push(...run.map(escapeLine).map(show));
    from = to;
  }
  return shown;
}

function blankSign(line: string | undefined): string | undefined {
  return BLANK.exec(line ?? 'x')?.[1];
}

function blankMarker(run: readonly string[], sign: string): string {
  const all = run.join('');
  const gap = gapWords(countOccurrences(all, ' '), countOccurrences(all, '\t'));
  return `${sign}⟨${countText(run.length, 'blank line')}${gap === '' ? '' : ` with ${gap}`}⟩`;
}
