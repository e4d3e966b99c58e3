/** Formats words of a command line that a person copies into a shell. Pure. */
import { visibleLine } from '../../../shared/text/visible-text.ts';

/**
 * Returns an untrusted text as one word. Agents choose the ids of their sessions and the codes of their actions.
 * Without quotes, the shell could run a part of such an id.
 */
export function commandWord(text: string): string {
  return shellWord(visibleLine(text));
}

/** Returns the text as one word, in quotes if the shell would change it. */
export function shellWord(text: string): string {
  return /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
