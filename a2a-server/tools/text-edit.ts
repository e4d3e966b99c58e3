/** Replacing passages of a text by others: pure, total, and never by guessing. */
import { textFinder } from './text-finder.ts';

export interface TextEdit {
  oldText: string;
  newText: string;
  replaceAll: boolean;
}

export type Edited =
  { type: 'edited'; content: string; replaced: number } | { type: 'refused'; message: string };

/**
 * Replaces the one place where `oldText` stands, or each of them from the left. A text whose every line ends in CRLF is
 * matched and written in CRLF, since a model sees and writes LF.
 */
export function editText(content: string, edit: TextEdit): Edited {
  if (edit.oldText === '')
    return refused('oldText is empty; give the passage to replace, or use append-file.');
  if (edit.oldText === edit.newText)
    return refused('oldText and newText are the same; there is nothing to change.');
  const places = placesOf(content, edit.oldText, edit.replaceAll);
  if (places.length === 0) {
    const converted = inCrlf(content, edit);
    if (converted !== undefined) return editText(content, converted);
    return refused(
      'oldText does not stand in the file. Read the file and copy the passage exactly, spaces included.',
    );
  }
  if (!edit.replaceAll && places.length > 1) {
    return refused(
      'oldText stands in more than one place. Add lines around it until it is unique, or set replaceAll.',
    );
  }
  return spliced(content, edit, places);
}

export type ManyEdited =
  | { type: 'edited'; content: string; replaced: number }
  /** `at`: which edit, from 0. */
  | { type: 'refused'; at: number; message: string };

/** One edit after the other, each in what those before it have left. All or none. */
export function editAll(content: string, edits: readonly TextEdit[]): ManyEdited {
  let replaced = 0;
  let text = content;
  for (const [at, edit] of edits.entries()) {
    const edited = editText(text, edit);
    if (edited.type === 'refused') return { ...edited, at };
    text = edited.content;
    replaced += edited.replaced;
  }
  return { type: 'edited', content: text, replaced };
}

/**
 * Where `passage` begins. With `all`, each place from the left that does not overlap one before. Otherwise the first two,
 * overlapping or not: `aa` is not unique in `aaa`.
 */
function placesOf(content: string, passage: string, all: boolean): number[] {
  const places: number[] = [];
  const find = textFinder(passage);
  const most = all ? Infinity : 2;
  let at = find(content);
  while (at !== -1 && places.length < most) {
    places.push(at);
    at = find(content, at + (all ? passage.length : 1));
  }
  return places;
}

function spliced(content: string, { oldText, newText }: TextEdit, places: readonly number[]): Edited {
  const pieces: string[] = [];
  let end = 0;
  for (const place of places) {
    pieces.push(content.slice(end, place), newText);
    end = place + oldText.length;
  }
  pieces.push(content.slice(end));
  return { type: 'edited', content: pieces.join(''), replaced: places.length };
}

/** The edit in the file's own line ends; undefined unless that makes a difference. */
function inCrlf(content: string, edit: TextEdit): TextEdit | undefined {
  if (!content.includes('\r\n') || BARE_LF.test(content) || !BARE_LF.test(edit.oldText)) return undefined;
  return { ...edit, oldText: crlf(edit.oldText), newText: crlf(edit.newText) };
}

const BARE_LF = /(?<!\r)\n/u;

function crlf(text: string): string {
  return text.replaceAll(/\r?\n/gu, '\r\n');
}

function refused(message: string): Edited {
  return { type: 'refused', message };
}
