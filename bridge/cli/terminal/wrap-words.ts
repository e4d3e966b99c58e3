/** Wraps text between words, so that a terminal breaks no word. Pure. */
import { Help } from 'commander';

/** @param width of the terminal; undefined in a pipe, where nothing is wrapped */
export function wrapWords(text: string, width: number | undefined): string {
  return width === undefined ? text : new Help().boxWrap(text, width);
}
