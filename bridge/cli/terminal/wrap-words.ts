/** Wraps text at spaces, so that the terminal does not split words. Pure. */
import { Help } from 'commander';
import { displayWidth } from '../../../shared/text/display-width.ts';

/** @param width the width of the terminal in columns; undefined if the text must not be wrapped */
export function wrapWords(text: string, width: number | undefined): string {
  return width === undefined ? text : new Help().boxWrap(text, width);
}

/** Wraps text as `wrapWords` does. Each line after the first starts with `indent`. */
export function wrapIndented(text: string, indent: string, width: number | undefined): string {
  if (width === undefined) return text;
  return wrapWords(text, Math.max(1, width - indent.length)).replaceAll('\n', `\n${indent}`);
}

/** Wraps as `wrapWords` does, but leaves each line that fits the terminal as it is, for example a row of a table. */
export function wrapWideLines(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  return text
    .split('\n')
    .map((line) => (displayWidth(line) <= width ? line : wrapWords(line, width)))
    .join('\n');
}
