import { quotedText } from '../../../shared/text/visible-text.ts';
import { wrapIntoRows } from './terminal.ts';

/**
 * Returns a text of an agent for a terminal: each line has the prefix `│`, so no line looks like the program's own.
 * @param width the width of the terminal in columns; undefined if stdout is not a terminal
 */
export function quotedRows(text: string, width: number | undefined): string {
  return wrapIntoRows(quotedText(text).text, width);
}
