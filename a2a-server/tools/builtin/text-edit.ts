/** Replaces passages of a text. The functions never guess the position of a passage. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { createSubstringFinder } from '../search/find-substring.ts';
import { MAX_READ_BYTES } from '../workspace/text-file.ts';

/** The largest text that a tool writes. A person cannot review a larger text. */
export const MAX_WRITE_BYTES = 2 * 1024 * 1024;

/** X3: the maximum number of replaced passages in one call. A million of them take about half a second. */
const MAX_REPLACED = 1_000_000;

/** X3: the maximum number of compared characters in one call. They take about half a second. An ordinary text needs few. */
const MAX_COMPARED = 20_000_000;

export interface TextEdit {
  oldText: string;
  newText: string;
  replaceAll: boolean;
}

type EditResult =
  | { type: 'edited'; content: string; replaced: number }
  | { type: 'refused'; message: string };

/**
 * Replaces the only match of `oldText`, or all matches if `replaceAll` is true. If every line of the file ends in CRLF,
 * the function converts the edit to CRLF, because a model writes LF. An `oldText` with only CRLF is not converted, so
 * that an edit can change the line ends.
 * @throws ProductError TOO_LARGE, like `applyEdits`
 */
export function applySingleEdit(
  content: string,
  edit: TextEdit,
  work: { compared: number } = { compared: 0 },
): EditResult {
  if (edit.oldText === '')
    return refusedEdit('oldText is empty; give the passage to replace, or use append-file.');
  if (edit.oldText === edit.newText)
    return refusedEdit('oldText and newText are the same; there is nothing to change.');
  const places = placesOf(content, edit, work);
  if (places.length === 0) {
    const converted = inCrlf(content, edit);
    if (converted !== undefined) return applySingleEdit(content, converted, work);
    return refusedEdit(
      'The file does not contain oldText. Read the file and copy the passage exactly, spaces included.',
    );
  }
  if (!edit.replaceAll && places.length > 1) {
    return refusedEdit(
      'oldText occurs more than once. Add lines around it until it is unique, or set replaceAll.',
    );
  }
  return replaceAtPlaces(content, withLineEndsOf(content, edit), places);
}

type MultiEditResult =
  | { type: 'edited'; content: string; replaced: number }
  /** An edit was refused, so no edit was applied. `at` is the index of the refused edit. */
  | { type: 'refused'; at: number; message: string };

/**
 * Applies each edit to the result of the previous edit. If one edit is refused, no edit is applied.
 * @throws ProductError TOO_LARGE if the text becomes longer than the longest file that a tool can read
 */
export function applyEdits(content: string, edits: readonly TextEdit[]): MultiEditResult {
  let replaced = 0;
  let text = content;
  const work = { compared: 0 };
  for (const [at, edit] of edits.entries()) {
    if (work.compared > MAX_COMPARED)
      return {
        ...refusedEdit(
          'The file repeats the beginning of oldText too often. Make fewer edits in one call, or use a shell command.',
        ),
        at,
      };
    const edited = applySingleEdit(text, edit, work);
    if (edited.type === 'refused') return { ...edited, at };
    text = edited.content;
    replaced += edited.replaced;
    if (replaced > MAX_REPLACED)
      return {
        ...refusedEdit(
          'The edits replace more than 1,000,000 passages. Use a longer oldText, or a shell command.',
        ),
        at,
      };
  }
  return { type: 'edited', content: text, replaced };
}

/**
 * Returns the start positions of `oldText`. If `replaceAll` is true, returns all matches from the left, without overlaps.
 * Otherwise returns the first two matches, even if they overlap. So `aa` counts as two matches in `aaa`.
 */
function placesOf(content: string, { oldText, replaceAll }: TextEdit, work: { compared: number }): number[] {
  const places: number[] = [];
  const find = createSubstringFinder(oldText, work);
  const most = replaceAll ? Infinity : 2;
  let at = find(content);
  while (at !== -1 && places.length < most) {
    places.push(at);
    at = find(content, at + (replaceAll ? oldText.length : 1));
  }
  return places;
}

function replaceAtPlaces(
  content: string,
  { oldText, newText }: TextEdit,
  places: readonly number[],
): EditResult {
  const length = content.length + places.length * (newText.length - oldText.length);
  // X3: without this limit, a few edits that each replace every letter by many would fill the memory. The limit is
  // higher than that of the new file, because a later edit may shorten the text.
  if (length > MAX_READ_BYTES) throw tooLargeError();
  const pieces: string[] = [];
  let end = 0;
  for (const place of places) {
    pieces.push(content.slice(end, place), newText);
    end = place + oldText.length;
  }
  pieces.push(content.slice(end));
  return { type: 'edited', content: pieces.join(''), replaced: places.length };
}

/** If `oldText` is within one line, converts `newText` to the line ends of the file. */
function withLineEndsOf(content: string, edit: TextEdit): TextEdit {
  const isWithinLine = !edit.oldText.includes('\n');
  return isWithinLine ? { ...edit, newText: inLineEndsOf(content, edit.newText) } : edit;
}

/** Converts the text to CRLF if every line of the file ends in CRLF. Mixed line ends would make later edits fail. */
export function inLineEndsOf(content: string, text: string): string {
  return BARE_LF.test(text) && usesOnlyCrlf(content) ? withCrlf(text) : text;
}

/**
 * Converts the edit to CRLF. Returns undefined if the file does not use CRLF only, or if the edit has no LF to convert.
 */
function inCrlf(content: string, edit: TextEdit): TextEdit | undefined {
  if (!usesOnlyCrlf(content) || !BARE_LF.test(edit.oldText)) return undefined;
  return { ...edit, oldText: withCrlf(edit.oldText), newText: withCrlf(edit.newText) };
}

function usesOnlyCrlf(content: string): boolean {
  return content.includes('\r\n') && !BARE_LF.test(content);
}

const BARE_LF = /(?<!\r)\n/u;

function withCrlf(text: string): string {
  return text.replaceAll(/\r?\n/gu, '\r\n');
}

export function tooLargeError(): ProductError {
  return new ProductError(
    'TOO_LARGE',
    `The file would be larger than ${MAX_WRITE_BYTES / 1024 / 1024} MiB; write less, or use a shell command.`,
  );
}

function refusedEdit(message: string): { type: 'refused'; message: string } {
  return { type: 'refused', message };
}
