import { ellipsize } from './capped-text.ts';

/**
 * Line breaks, other control characters, and characters that change the writing direction. Such characters can hide a
 * part of a line.
 */
const UNSAFE = /[\p{Cc}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Makes text from a model safe to show to a person on one line. Shows unsafe characters as escapes, and cuts longer
 * text without splitting a character. `limit` counts UTF-16 units.
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
