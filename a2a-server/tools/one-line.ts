/** Text from a model, made fit for one line in front of a person. */

/** Line ends, other control characters, and those that turn the writing direction and so can hide what a line says. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu;

/** What could break or disguise the line is shown as an escape; longer text is cut, between two characters. `limit` counts UTF-16 units. */
export function oneLine(text: string, limit = 100): string {
  const shown = text.replace(UNSAFE, (c) =>
    c === '\n' ? '⏎' : `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`,
  );
  if (shown.length <= limit) return shown;
  return `${shown.slice(0, limit - 1).replace(/[\ud800-\udbff]$/u, '')}…`;
}

/** `1 line`, `2 lines`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
