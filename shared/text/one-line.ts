import { ellipsize } from './capped-text.ts';

/**
 * Matches characters that can hide a part of a line: line breaks, other control characters, and characters that change
 * the writing direction.
 */
const UNSAFE = /[\p{Cc}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Makes text of a model safe to show to a person on one line. Shows unsafe characters as escapes. Cuts a longer text,
 * but never inside a character. `limit` is in UTF-16 code units.
 */
export function oneLine(text: string, limit = 100): string {
  const shown = text.replace(UNSAFE, (c) =>
    c === '\n' ? '⏎' : `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return ellipsize(shown, limit);
}

export function countWithNoun(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
