/** Wraps text at spaces, so that the terminal splits no word. Pure. */
import { Help } from 'commander';

/**
 * Wraps text at spaces.
 * @param width columns of the terminal; undefined in a pipe, where nothing is wrapped
 */
export function wrapWords(text: string, width: number | undefined): string {
  return width === undefined ? text : new Help().boxWrap(text, width);
}

/** Wraps text as `wrapWords` does. Each line after the first begins with `indent`. */
export function indented(text: string, indent: string, width: number | undefined): string {
  if (width === undefined) return text;
  return wrapWords(text, Math.max(1, width - indent.length)).replaceAll('\n', `\n${indent}`);
}
