/** Wraps text between words, so that a terminal breaks no word. Pure. */
import { Help } from 'commander';

/** @param width of the terminal; undefined in a pipe, where nothing is wrapped */
export function wrapWords(text: string, width: number | undefined): string {
  return width === undefined ? text : new Help().boxWrap(text, width);
}

/** Wraps the text as `wrapWords` does. Each line after the first begins with `indent`. */
export function indented(text: string, indent: string, width: number | undefined): string {
  if (width === undefined) return text;
  return wrapWords(text, Math.max(1, width - indent.length)).replaceAll('\n', `\n${indent}`);
}
