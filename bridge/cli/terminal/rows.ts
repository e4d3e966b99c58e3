/** Splits text into rows of a terminal. Pure. */
import { Help } from 'commander';
import { displayWidth } from '../../text/display-width.ts';
import { textRows, wordRows } from '../../text/text-rows.ts';
import { quotedText } from '../../../shared/text/visible-text.ts';

/** @param width the width of the terminal in columns; undefined if the text must not be wrapped */
export function wrapWords(text: string, width: number | undefined): string {
  // Without this setting, commander does not wrap text for less than 40 columns.
  return width === undefined ? text : Object.assign(new Help(), { minWidthToWrap: 1 }).boxWrap(text, width);
}

/** Wraps text as `wrapWords` does. Each line after the first starts with `indent`. */
export function wrapIndented(text: string, indent: string, width: number | undefined): string {
  if (width === undefined) return text;
  return wrapWords(text, Math.max(1, width - indent.length)).replaceAll('\n', `\n${indent}`);
}

/** Matches a command to copy, up to the end of its quotation, sentence or line. */
const COMMAND = /"mcp-a2a-bridge [^"\n]*"|mcp-a2a-bridge (?:(?! \(|\. )[^"\n])*/g;
/** Stands for a space of a command or of an indentation while the text is split at spaces. */
const KEPT_SPACE = '\u{e000}';

/**
 * Splits the lines of the program's own sentences between two words. D5: a sentence may quote an agent, so a row that
 * continues a line starts with `↳ `. Splits no word and no command, because people copy them.
 */
export function wrapSentences(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  const kept = text
    .replaceAll(COMMAND, (command) => command.replaceAll(' ', KEPT_SPACE))
    .replaceAll(/^ +/gm, (indent) => KEPT_SPACE.repeat(indent.length));
  const lines = kept.split('\n').map((line) =>
    line.split(' ').reduce((rows, word) => {
      const last = rows.slice(rows.lastIndexOf('\n') + 1);
      return displayWidth(`${last} ${word}`) <= width ? `${rows} ${word}` : `${rows}\n↳ ${word}`;
    }),
  );
  return lines.join('\n').replaceAll(KEPT_SPACE, ' ');
}

/**
 * Splits each line of a text into rows of the terminal. A row that continues a line starts with `↳ `.
 * @param width the width of the terminal in columns; undefined if the text must not be wrapped
 */
export function wrapIntoRows(text: string, width: number | undefined): string {
  return wrapLines(text, width, textRows);
}

/** Like `wrapIntoRows`, but splits a row between two words if possible. For text of the program. */
export function wrapIntoRowsAtWords(text: string, width: number | undefined): string {
  return wrapLines(text, width, wordRows);
}

function wrapLines(text: string, width: number | undefined, rowsOf: typeof textRows): string {
  if (width === undefined) return text;
  return text
    .split('\n')
    .flatMap((line) => [...rowsOf(line, width)])
    .join('\n');
}

/**
 * Returns a text of an agent for a terminal: each line has the prefix `│`, so no line looks like the program's own.
 * @param width the width of the terminal in columns; undefined if stdout is not a terminal
 */
export function quotedRows(text: string, width: number | undefined): string {
  return wrapIntoRows(quotedText(text).text, width);
}
