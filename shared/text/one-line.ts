import { ellipsize } from './shortened-text.ts';

/** Matches everything that a program may show as a line break. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/**
 * Returns text of a model or a file as one line, with `↵` for each line break. Cuts a longer text, but never inside a
 * character. `limit` is in UTF-16 code units.
 *
 * The line may still contain hidden characters. The program that shows the line escapes them, with `visibleLine`. So
 * each hidden character is escaped only once.
 */
export function oneLineExcerpt(text: string, limit = 100): string {
  return ellipsize(text.replace(LINE_BREAK, '↵'), limit);
}

export function countWithNoun(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

/** Returns a number of bytes, such as `7 bytes` or `3.4 kB`. */
export function byteCountText(bytes: number): string {
  if (bytes < 1e3) return countWithNoun(bytes, 'byte');
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
