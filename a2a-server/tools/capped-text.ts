/** Text that may grow without end, kept within bounds: its beginning and its end. */

export class CappedText {
  readonly #side: number;
  #head = '';
  #tail = '';
  #length = 0;

  /** @param limit how many characters are kept, half of them from each end. */
  constructor(limit: number) {
    this.#side = Math.floor(limit / 2);
  }

  /** Characters given so far, kept or not. */
  get length(): number {
    return this.#length;
  }

  push(text: string): void {
    this.#length += text.length;
    const room = this.#side - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(Math.max(0, room));
    // Cut only now and then, so that many small pieces do not copy the tail each time.
    if (this.#tail.length > this.#side * 3) this.#tail = this.#tail.slice(-this.#side);
  }

  /** What is kept, with a line that says how much is missing. */
  toString(): string {
    if (this.#length <= this.#side * 2) return this.#head + this.#tail;
    const tail = this.#tail.slice(-this.#side);
    const left = this.#length - this.#head.length - tail.length;
    return `${this.#head}\n[… ${left} characters left out …]\n${tail}`;
  }
}

/** The text within `limit` characters, its middle left out where it is longer. */
export function capped(text: string, limit: number): string {
  const kept = new CappedText(limit);
  kept.push(text);
  return kept.toString();
}
