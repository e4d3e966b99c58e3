import { quote } from 'shell-quote';
import { visibleLine } from '../../../shared/text/visible-text.ts';

/**
 * Returns an id as a word of a command line that a person copies into a shell. Agents choose the ids of their sessions
 * and the codes of their actions, so the shell must not run a part of an id.
 */
export function commandWord(id: string): string {
  return quote([visibleLine(id)]);
}
