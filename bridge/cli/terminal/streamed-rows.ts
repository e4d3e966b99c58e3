import { displayWidth, graphemesOf } from '../../text/display-width.ts';
import { columnsOf, CONTINUATION_PREFIX } from '../../text/text-rows.ts';
import { LINE_MARK, visibleText } from '../../../shared/text/visible-text.ts';

/**
 * Formats text of an agent or a tool that arrives in pieces. Each line has the prefix `│`, and a row that continues a line
 * has the prefix `↳`. So no part of the text looks like a line of the program.
 */
export class StreamedRows {
  readonly #width: number | undefined;
  /** The column after the last character. 0 at the start of a line. */
  #column = 0;

  /** @param width the width of the terminal in columns; undefined if stdout is not a terminal */
  constructor(width: number | undefined) {
    this.#width = width;
  }

  /** Starts a new line. The caller has printed the line feed. */
  endLine(): void {
    this.#column = 0;
  }

  /** Returns the next piece as it is printed. */
  next(piece: string): string {
    const lines = visibleText(piece).split('\n');
    return lines
      .map((line, at) => {
        if (at > 0) this.#column = 0;
        const isLast = at === lines.length - 1;
        return line === '' && (isLast || this.#column > 0) ? '' : this.#continue(line);
      })
      .join('\n');
  }

  #continue(line: string): string {
    const mark = line === '' ? LINE_MARK : `${LINE_MARK} `;
    let rows = this.#column === 0 ? mark : '';
    this.#column = Math.max(this.#column, displayWidth(mark));
    if (this.#width === undefined) return rows + line;
    for (const segment of graphemesOf(line)) {
      if (this.#column + columnsOf(segment, this.#column) > this.#width) {
        rows += `\n${CONTINUATION_PREFIX}`;
        this.#column = displayWidth(CONTINUATION_PREFIX);
      }
      rows += segment;
      this.#column += columnsOf(segment, this.#column);
    }
    return rows;
  }
}
