/** Shortens texts to a maximum length. Lengths are in UTF-16 code units. */

export class MiddleCutText {
  readonly #side: number;
  #head = '';
  #tail = '';
  #length = 0;

  /**
   * @param limit the maximum number of characters to keep: one half from the start, the other half from the end of the
   * text
   */
  constructor(limit: number) {
    this.#side = Math.floor(limit / 2);
  }

  /** The length of all text that was added, including the text that is left out. */
  get length(): number {
    return this.#length;
  }

  push(text: string): void {
    this.#length += text.length;
    const room = this.#side - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(Math.max(0, room));
    // Shortens the tail only when it has grown much too long. Otherwise each small piece would copy the whole tail.
    if (this.#tail.length > this.#side * 3) this.#tail = this.#tail.slice(-this.#side);
  }

  /** Returns the text that was kept. If characters are missing, a line in the middle counts them. */
  toString(): string {
    if (this.#length <= this.#side * 2) return this.#head + this.#tail;
    const tail = this.#tail.slice(-this.#side);
    const left = this.#length - this.#head.length - tail.length;
    return `${this.#head}\n[… ${left} characters left out …]\n${tail}`;
  }
}

/** Returns the text. If it is longer than `limit` characters, its middle is left out. */
export function cutMiddle(text: string, limit: number): string {
  const kept = new MiddleCutText(limit);
  kept.push(text);
  return kept.toString();
}

/** Returns the first `limit` code units, without half a character at the end. */
export function truncate(text: string, limit: number): string {
  return text.length <= limit ? text : text.slice(0, limit).replace(/[\ud800-\udbff]$/u, '');
}

/** Returns at most `limit` code units. A shortened text ends in `…`. */
export function ellipsize(text: string, limit: number): string {
  return text.length <= limit ? text : `${truncate(text, limit - 1)}…`;
}

/**
 * Replaces each run of whitespace with one space, and returns at most `limit` code units. A shortened text ends in `…`.
 */
export function collapsedLine(text: string, limit: number): string {
  return ellipsize(text.replaceAll(/\s+/g, ' ').trim(), limit);
}
