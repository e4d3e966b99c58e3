/** Shortens texts. Limits count UTF-16 units. */

export class CappedText {
  readonly #side: number;
  #head = '';
  #tail = '';
  #length = 0;

  /** @param limit the number of characters to keep, half of them from each end */
  constructor(limit: number) {
    this.#side = Math.floor(limit / 2);
  }

  /** The length of all text so far, including the text that is left out. */
  get length(): number {
    return this.#length;
  }

  push(text: string): void {
    this.#length += text.length;
    const room = this.#side - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(Math.max(0, room));
    // The tail is cut only rarely, so that many small pieces do not copy it each time.
    if (this.#tail.length > this.#side * 3) this.#tail = this.#tail.slice(-this.#side);
  }

  /** Returns the kept text, with a line that counts the missing characters. */
  toString(): string {
    if (this.#length <= this.#side * 2) return this.#head + this.#tail;
    const tail = this.#tail.slice(-this.#side);
    const left = this.#length - this.#head.length - tail.length;
    return `${this.#head}\n[… ${left} characters left out …]\n${tail}`;
  }
}

/** If `text` is longer than `limit` characters, returns it without its middle. */
export function capText(text: string, limit: number): string {
  const kept = new CappedText(limit);
  kept.push(text);
  return kept.toString();
}

/** Returns the first `limit` units, without half a character at the end. */
export function truncate(text: string, limit: number): string {
  return text.length <= limit ? text : text.slice(0, limit).replace(/[\ud800-\udbff]$/u, '');
}

/** Returns at most `limit` units. A cut text ends in `…`. */
export function ellipsize(text: string, limit: number): string {
  return text.length <= limit ? text : `${truncate(text, limit - 1)}…`;
}

/** Replaces each run of whitespace with one space, and returns at most `limit` units. A cut text ends in `…`. */
export function collapseWhitespace(text: string, limit: number): string {
  return ellipsize(text.replaceAll(/\s+/g, ' ').trim(), limit);
}
