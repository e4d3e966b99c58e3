/**
 * Builds the readable text of a page from its tags. The text is similar to Markdown: headings, paragraphs, lists,
 * tables and links. It omits navigation. If the page marks its main part, the text is only that part.
 */
import { elementLayoutOf, type ElementLayout } from './element-layout.ts';

interface OpenLink {
  from: TextPosition;
  target: string;
}

interface TextPosition {
  pieces: number;
  characters: number;
}

const MAX_INDENT = 10;

export class WebPageText {
  readonly #limit: number;
  /** The pieces of the text. `toString` joins them once, because each join of a growing text copies all of it. */
  readonly #pieces: string[] = [];
  #length = 0;
  /** The number of line breaks to write before the next words. */
  #breaks = 0;
  #space = false;
  /** A prefix for the next words, for example the bullet of a list item. */
  #mark = '';
  readonly #open: ElementLayout[] = [];
  #hidden = 0;
  #asWritten = 0;
  /** The number of the last item in each open list. Null means a list without numbers. */
  readonly #lists: (number | null)[] = [];
  readonly #links: OpenLink[] = [];
  #cellsInRow = 0;
  /** The main parts of the page, as ranges of indexes in `#pieces`. */
  readonly #main: { from: number; to: number }[] = [];
  #mainDepth = 0;

  /** @param limit in characters */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get full(): boolean {
    return this.#length >= this.#limit;
  }

  /** Handles a start tag. @param target the target, if the element is a link */
  open(name: string, attributes: Readonly<Record<string, string>>, target: string | undefined): void {
    const layout = elementLayoutOf(name, attributes);
    this.#open.push(layout);
    if (layout.type === 'hidden') this.#hidden += 1;
    if (this.#hidden > 0) return;
    this.#requestBreaks(layout.breaks);
    switch (layout.type) {
      case 'heading':
        this.#mark = `${'#'.repeat(layout.level)} `;
        break;
      case 'list':
        this.#lists.push(layout.numbered ? 0 : null);
        break;
      case 'item':
        this.#mark = this.#itemMark();
        break;
      case 'row':
        this.#cellsInRow = 0;
        break;
      case 'cell':
        if (this.#cellsInRow > 0) this.#write(' | ');
        this.#cellsInRow += 1;
        break;
      case 'link':
        this.#links.push({ from: this.#currentPosition(), target: target ?? '' });
        break;
      case 'as-written':
        this.#asWritten += 1;
        break;
      case 'main':
        if (this.#mainDepth === 0) this.#main.push({ from: this.#pieces.length, to: Infinity });
        this.#mainDepth += 1;
        break;
      case 'line-end':
        this.#breaks = Math.min(2, this.#breaks + 1);
        break;
      case 'rule':
        this.#write('---');
        break;
      case 'hidden':
      case 'plain':
        break;
    }
  }

  close(): void {
    const layout = this.#open.pop();
    if (layout === undefined) return;
    const hidden = this.#hidden > 0;
    if (layout.type === 'hidden') this.#hidden -= 1;
    if (hidden) return;
    if (layout.type === 'list') this.#lists.pop();
    if (layout.type === 'heading' || layout.type === 'item') this.#mark = '';
    if (layout.type === 'link') this.#endLink();
    if (layout.type === 'as-written') this.#asWritten -= 1;
    if (layout.type === 'main') this.#endMain();
    this.#requestBreaks(layout.breaks);
  }

  text(text: string): void {
    if (this.#hidden > 0 || this.full) return;
    if (this.#asWritten > 0) return this.#write(text);
    const words = text.replaceAll(/[\s\u200b]+/gu, ' ');
    if (words.startsWith(' ')) this.#space = true;
    if (words.trim() === '') return;
    this.#write(words.trim());
    this.#space = words.endsWith(' ');
  }

  toString(): string {
    const parts = this.#main
      .map(({ from, to }) => this.#pieces.slice(from, to).join('').trim())
      .filter((part) => part !== '');
    const whole = parts.length > 0 ? parts.join('\n\n') : this.#pieces.join('').trim();
    const lines = whole.split('\n').map((line) => line.trimEnd());
    return lines.join('\n').replaceAll(/\n{3,}/gu, '\n\n');
  }

  #requestBreaks(breaks: number): void {
    if (breaks > 0) this.#breaks = Math.max(this.#breaks, breaks);
  }

  #write(words: string): void {
    if (this.full) return;
    const before = this.#breaks > 0 ? '\n'.repeat(this.#breaks) : this.#space && this.#mark === '' ? ' ' : '';
    const piece = before + this.#mark + words;
    this.#pieces.push(piece);
    this.#length += piece.length;
    this.#breaks = 0;
    this.#space = false;
    this.#mark = '';
  }

  #itemMark(): string {
    const depth = Math.min(MAX_INDENT, Math.max(1, this.#lists.length));
    const number = this.#lists.at(-1);
    if (typeof number === 'number') this.#lists[this.#lists.length - 1] = number + 1;
    return `${'  '.repeat(depth - 1)}${typeof number === 'number' ? `${number + 1}.` : '-'} `;
  }

  /** Writes the link target in parentheses. Omits the target if the link has no text, or if its text is the target. */
  #endLink(): void {
    const link = this.#links.pop();
    if (link === undefined || link.target === '') return;
    if (this.#length === link.from.characters || this.#equalsTarget(link)) return;
    const spaced = this.#space;
    this.#write(` (${link.target})`);
    this.#space = spaced;
  }

  #equalsTarget({ from, target }: OpenLink): boolean {
    // A much longer text cannot equal the target, so the text need not be joined.
    if (this.#length - from.characters > target.length + MAX_INDENT) return false;
    return this.#pieces.slice(from.pieces).join('').trim() === target;
  }

  #currentPosition(): TextPosition {
    return { pieces: this.#pieces.length, characters: this.#length };
  }

  #endMain(): void {
    this.#mainDepth -= 1;
    const last = this.#main.at(-1);
    if (this.#mainDepth === 0 && last !== undefined) last.to = this.#pieces.length;
  }
}
