/** Wraps text at spaces, so that the terminal does not split words. Pure. */
import { Help } from 'commander';

/** @param width the width of the terminal in columns; undefined if the text must not be wrapped */
export function wrapWords(text: string, width: number | undefined): string {
  return width === undefined ? text : new Help().boxWrap(text, width);
}

/** Wraps text as `wrapWords` does. Each line after the first starts with `indent`. */
export function wrapIndented(text: string, indent: string, width: number | undefined): string {
  if (width === undefined) return text;
  return wrapWords(text, Math.max(1, width - indent.length)).replaceAll('\n', `\n${indent}`);
}
